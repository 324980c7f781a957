package netlab

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// Two hosts reach each other over their link and nothing else. The namespaces'
// own tools may be missing, so the test's own binary is what runs there.
func TestHosts(t *testing.T) {
	if os.Getenv("NETLAB_HOST") != "" {
		onHost(t)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	h := &Hosts{Name: "rltest", Link: Both(Shape{Rate: 50e6})}
	if err := h.Up(); err != nil {
		t.Skipf("no namespaces here: %v", err)
	}
	defer func() {
		if err := h.Down(); err != nil {
			t.Error(err)
		}
	}()
	if err := h.Up(); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("made twice: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := func(role string) (*exec.Cmd, *bytes.Buffer) {
		c, out := exec.Command(self, "-test.run=^TestHosts$", "-test.v"), new(bytes.Buffer)
		c.Env, c.Stdout, c.Stderr = append(os.Environ(), "NETLAB_HOST="+role), out, out
		return c, out
	}
	server, said := command("server")
	ended := make(chan error, 1)
	go func() { ended <- h.Run("b", server) }()
	client, out := command("client")
	if err := h.Run("a", client); err != nil {
		t.Errorf("host a: %v\n%s", err, out)
	}
	if err := <-ended; err != nil {
		t.Errorf("host b: %v\n%s", err, said)
	}
	if err := h.Run("c", exec.Command(self)); err == nil {
		t.Error("there is no host c")
	}
}

// Where the kernel has netem, a delay is one; where not, it is refused and nothing
// stays.
func TestHostsWithDelay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	there, err := netem()
	if err != nil {
		t.Skipf("no namespaces here: %v", err)
	}
	h := &Hosts{Name: "rldelay", Link: Both(Shape{Delay: time.Millisecond})}
	err = h.Up()
	switch {
	case there && err != nil:
		t.Error(err)
	case !there && !errors.Is(err, ErrNoNetem):
		t.Errorf("no netem, and %v", err)
	}
	if err := h.Down(); (err == nil) != there {
		t.Errorf("down: %v", err)
	}
}

func TestHostNames(t *testing.T) {
	for _, name := range []string{"", "much-too-long", "../x", "A b"} {
		if err := (&Hosts{Name: name}).check(); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}

// netem tells whether the kernel can delay packets, by trying it on the loopback
// interface of a namespace of its own. It needs root.
func netem() (bool, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	home, err := netns.Get()
	if err != nil {
		return false, err
	}
	defer home.Close()
	tried, err := netns.New()
	if err != nil {
		return false, err
	}
	defer tried.Close()
	if back := netns.Set(home); back != nil {
		panic(back) // this thread would go on in the wrong network
	}
	at, err := netlink.NewHandleAt(tried)
	if err != nil {
		return false, err
	}
	defer at.Close()
	lo, err := at.LinkByName("lo")
	if err != nil {
		return false, err
	}
	err = delayInterface(at, lo.Attrs().Index, Shape{Delay: 1})
	if errors.Is(err, ErrNoNetem) {
		return false, nil
	}
	return err == nil, err
}
