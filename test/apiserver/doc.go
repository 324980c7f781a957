// Package apiserver holds a test that needs a real Kubernetes API server, built from
// its Go modules. It is a module of its own: the product needs none of them.
package apiserver
