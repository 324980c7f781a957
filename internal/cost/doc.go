// Package cost turns one operation or one collective into seconds on one GPU of
// a cluster, and says which ceiling bound it. It is the only place where work
// meets rates; what overlaps with what is decided by packages train and serve.
//
// Every price is a triple: Floor, the speed of light at achieved rates with
// perfect overlap inside the operation; Upper, no overlap and pessimistic
// efficiency; Estimate between them. Floor <= Estimate <= Upper always.
package cost
