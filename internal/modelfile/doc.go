// Package modelfile reads a model's shapes from the files that publishers ship:
// a Hugging Face config.json, a model folder, a GGUF header. It also reads the
// compact arch_params notation of published training runs.
//
// Its opinion: a file that is not fully understood is refused. Every field that
// could change a shape is either used or known not to matter; an architecture
// or field outside that is an error that names it, because a silent guess would
// make every later number wrong. Readers fill a model.Model and know nothing of
// machines, plans or the catalogue.
package modelfile
