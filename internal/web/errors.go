package web

import "errors"

var (
	errHost = errors.New("no host name")
	errTime = errors.New("the time for an answer is over")
	errGone = errors.New("the client ended its request") // no answer is sent
)
