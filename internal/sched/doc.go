// Package sched holds pipeline schedules as data, per rank a list of passes, and
// one event simulator that lays any of them out with real, unequal stage times
// and boundary communication. It knows passes and seconds, no models.
//
// A Spec names the schedule and the times. Its order (order.go, zbv.go,
// dualpipe.go; auto.go for the kinds that order by the times) is compiled into
// one list that respects every dependency (program.go), which a single sweep
// turns into times (simulate.go): Lay keeps the passes, Makespan only the step.
// Both run the same sweep, so a search and a drawing cannot disagree. LowerBound
// and InFlight are the closed forms that a search asks first.
//
// Plans name a Kind; training models price the chunks, lay them out here and
// read step, idle time and activations held.
package sched
