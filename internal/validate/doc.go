// Package validate compares predictions with published measurements, by kind:
// it reads the runs, predicts each from its description alone and states the
// errors, all of them. Its tests fit the few constants that only whole runs can
// show, see refit_test.go.
//
// Opinion: a run that cannot be predicted is listed with its reason, never
// dropped; nothing of a run's own measurement reaches its prediction; what a
// source leaves unsaid is what its engine did (see engineOf) or else what a user
// would choose, the least recomputation that fits. The package stands above
// train and below report.
package validate
