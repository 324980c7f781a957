// Package openai is a client of the OpenAI protocol that measures: it sends one
// request, stamps what comes back in the reader before anything is parsed, and
// says in which class the exchange ended. It repeats nothing, hides nothing and
// bounds what it reads. It derives no metric.
package openai
