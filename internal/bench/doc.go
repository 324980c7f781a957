// Package bench evaluates a running service: it puts a load on it, keeps a
// record of every request and derives all metrics from the records afterwards,
// each in one function that table, JSON and exports share.
//
// A Record holds six stamps of one monotonic clock: scheduled, dispatched, sent,
// headers, every chunk, end. Run makes records, ReadRecords reads them back,
// Summarise turns them into a Summary, whoever made them: Run, `bench merge`,
// or a file of another tool. Times are kept in whole nanoseconds since the start
// of the run, written in seconds, and shown in milliseconds.
package bench
