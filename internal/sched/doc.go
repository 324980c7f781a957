// Package sched holds pipeline schedules as data, per rank a list of passes, and
// one event simulator that lays any of them out with real, unequal stage times
// and boundary communication. It knows passes and seconds, no models.
package sched
