// Package web serves the page and the public JSON API: HTTP in, the same answers
// out that the command line prints with --json. Questions are read by package
// ask, answered by package api and put into documents by package report; nothing
// is computed here.
//
// It trusts nobody: requests are taken on addresses that the listener was given,
// from pages that it served itself, within bounds of size, time and number. It
// opens no file that a request names.
package web

// Requests in terms of the layers above:
//
//	guard (Host, Origin, token, headers) -> squeeze (gzip) -> mux -> huma (routes, OpenAPI) ->
//	question (fields of package ask) -> gate (turns, time) -> api -> report
