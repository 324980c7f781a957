package apiserver

import (
	"net/url"
	"testing"
)

// urls reads one address as etcd's configuration takes it.
func urls(t *testing.T, address string) []url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return []url.URL{*u}
}
