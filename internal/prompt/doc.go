// Package prompt makes prompts of an asked length in tokens, each unlike every
// other: random words or token ids that follow from the run's nonce and the
// prompt's number, so that no prefix cache has seen them unless it should.
//
// Lengths are exact where a tokenizer.json counts them or token ids are sent, and
// follow from a calibration against the service's own count elsewhere. It sends
// nothing and knows no clock.
package prompt
