package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/web"
)

// defaultListen is where the page is served unless told otherwise.
const defaultListen = "127.0.0.1:8787"

// tokenVariable names the environment variable that may hold the token.
const tokenVariable = "RIDGELINE_WEB_TOKEN"

// shortToken is the length below which a token can be guessed over a network: 16
// random letters and digits are 80 bits and more.
const shortToken = 16

// webFlags is the server as the user typed it.
type webFlags struct {
	listen, tokenFile string
	hosts, services   []string
	db                string
	keyEnv, keyFile   string
	open              bool
}

func newWebCommand(env *Env) *cobra.Command {
	f := &webFlags{}
	cmd := &cobra.Command{
		Use:     "web",
		GroupID: groupPlan,
		Short:   "Serve the web page and the JSON API",
		Long: `Serve the page on which plans are explored, compared and shared, and the JSON API that it
uses; /docs describes the API, /openapi.json is its OpenAPI 3.1 document.

The server listens on the loopback address, where a token is asked for only if you set one. On any other address the API asks for a token:
that of --token-file, of ` + tokenVariable + `, or one that is made up and printed once. Requests whose Host
is neither the address nor named by --host are refused. An interrupt stops it.`,
		Example: `  ridgeline web
  ridgeline web --listen 127.0.0.1:9000 --open
  ridgeline web --bench-url http://127.0.0.1:8000/v1
  ridgeline web --listen 0.0.0.0:8787 --host planner.example.org --token-file token.txt`,
		Args: positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.serve(cmd, env) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.listen, "listen", defaultListen, "`ADDRESS`:PORT to serve on; port 0 takes a free one")
	fs.StringVar(&f.tokenFile, "token-file", "", "read the API's token from the first line of `FILE`")
	dbFlag(cmd, &f.db)
	fs.StringArrayVar(&f.services, "bench-url", nil, "let the page evaluate the service at `URL`, as bench --url takes it; may be repeated")
	fs.StringVar(&f.keyEnv, "api-key-env", "OPENAI_API_KEY", "environment variable `NAME` that holds the key of these services")
	fs.StringVar(&f.keyFile, "api-key-file", "", "`FILE` that holds the key of these services")
	ask.Switch(fs, &f.open, "open", "open the page in the browser")
	fs.StringArrayVar(&f.hosts, "host", nil, "also answer to the `NAME` in requests, as behind a proxy; may be repeated")
	return cmd
}

func (f *webFlags) serve(cmd *cobra.Command, env *Env) error {
	if err := notEmpty(cmd, "listen", "token-file", "db", "api-key-env", "api-key-file"); err != nil {
		return err
	}
	if err := f.checkHosts(); err != nil {
		return err
	}
	o, err := f.options(cmd)
	if err != nil {
		return err
	}
	if o.Store != nil {
		defer o.Store.Close()
	}
	l, err := f.listener()
	if err != nil {
		return err
	}
	defer l.Close()
	made := o.Token == "" && !loopback(l.Addr())
	if made {
		o.Token = rand.Text() // 128 bits
	}
	if n := len(o.Token); n > 0 && n < shortToken && !loopback(l.Addr()) {
		fmt.Fprintf(env.Stderr, "ridgeline: note: the API's token has %d characters and can be guessed: take %d random ones or more, or leave it out for one that is made up\n", n, shortToken)
	}
	s := web.New(o)
	fmt.Fprintf(env.Stderr, "ridgeline: the page is at %s, an interrupt stops it\n", pageURL(l.Addr()))
	if made {
		fmt.Fprintf(env.Stderr, "ridgeline: the API's token, shown this once: %s\n", o.Token)
	}
	if f.open {
		if err := browse(pageURL(l.Addr())); err != nil {
			fmt.Fprintf(env.Stderr, "ridgeline: note: no browser was opened: %v\n", err)
		}
	}
	return s.Serve(cmd.Context(), l)
}

// checkHosts refuses what no request's Host can match: ports do not count there.
func (f *webFlags) checkHosts() error {
	for _, h := range f.hosts {
		if _, err := netip.ParseAddr(h); err != nil && (h == "" || strings.ContainsAny(h, ":/@?#[]%*\\") || strings.ContainsFunc(h, unicode.IsSpace)) {
			return usagef("--host %q: give the name alone, such as planner.example.org: no scheme, port, path or blank", h)
		}
	}
	return nil
}

// options resolves files and secrets.
func (f *webFlags) options(cmd *cobra.Command) (o web.Options, err error) {
	o = web.Options{Hosts: f.hosts, Version: version, Services: web.Services{URLs: f.services}}
	if o.Token, err = f.token(); err != nil {
		return o, err
	}
	for _, u := range f.services {
		if _, err := openai.ParseURL(u); err != nil {
			return o, badInput(fmt.Errorf("--bench-url: %w", err))
		}
	}
	if given := cmd.Flags().Changed; len(f.services) == 0 && (given("api-key-file") || given("api-key-env")) {
		return o, usagef("--api-key-file and --api-key-env are for the services of --bench-url: name one, or leave the key out")
	}
	if len(f.services) > 0 {
		if o.Services.Key, err = serviceKey(cmd, f.keyEnv, f.keyFile); err != nil {
			return o, err
		}
	}
	if o.Store, err = openStore(cmd.Context(), f.db, true); err != nil && f.db == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "ridgeline: note: no runs are kept: %v\n", err)
		return o, nil // the page has more to show
	}
	return o, err
}

// listener listens; an address that cannot be had is the user's to change.
func (f *webFlags) listener() (net.Listener, error) {
	host, port, err := net.SplitHostPort(f.listen)
	if err != nil {
		return nil, usagef("--listen %s: write an address and a port such as %s", f.listen, defaultListen)
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "localhost" && host != "" {
		return nil, usagef("--listen %s: %q is no address: give one such as %s, and a name with --host", f.listen, host, defaultListen)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, usagef("--listen %s: %w: choose another address or port, port 0 takes a free one", f.listen, plainNet(err))
	}
	return l, nil
}

// pageURL is where this machine finds the page; a listener on every address is
// named by the loopback one.
func pageURL(a net.Addr) string {
	at, err := netip.ParseAddrPort(a.String())
	if err == nil && at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
		return "http://" + at.String()
	}
	return "http://" + a.String()
}

// browse opens the page as the system opens addresses.
func browse(url string) error {
	var c *exec.Cmd
	switch runtime.GOOS {
	case "windows":
		c = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	case "darwin":
		c = exec.Command("open", url)
	default:
		c = exec.Command("xdg-open", url)
	}
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }() // whatever it says: the page is served
	return nil
}

// plainNet drops the frame of a network error.
func plainNet(err error) error {
	var op *net.OpError
	var call *os.SyscallError
	switch {
	case errors.As(err, &call):
		return call.Err
	case errors.As(err, &op):
		return op.Err
	}
	return err
}

func loopback(a net.Addr) bool {
	at, err := netip.ParseAddrPort(a.String())
	return err == nil && at.Addr().IsLoopback()
}

// token is the one that the user set, "" without.
func (f *webFlags) token() (string, error) {
	if f.tokenFile == "" {
		given := os.Getenv(tokenVariable)
		token := strings.TrimSpace(given)
		if token == "" && given != "" {
			return "", usagef("%s holds blanks alone: set it to the token, or unset it", tokenVariable)
		}
		return token, nil
	}
	return secretFile("token-file", f.tokenFile)
}

// maxSecret bounds the line that holds a secret, in bytes: more is another file.
const maxSecret = 4096

// byteOrderMark is what editors on Windows put before a text; no secret begins so.
const byteOrderMark = "\ufeff"

// secretFile is the first line of a file.
func secretFile(flag, name string) (string, error) {
	f, err := input.Open(name)
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	if err != nil {
		return "", usagef("--%s %s: %w: give a file whose first line is the secret", flag, name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", usagef("--%s %s: %w: give a readable file", flag, name, err)
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(string(b), byteOrderMark), "\n")
	if len(line) > maxSecret {
		return "", usagef("--%s %s: the first line has more than %d bytes: write the secret alone there", flag, name, maxSecret)
	}
	switch line = strings.TrimSpace(line); {
	case line == "":
		return "", usagef("--%s %s: the first line is empty: write the secret there", flag, name)
	case !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl):
		return "", usagef("--%s %s: the first line is no plain text: write the secret there, in UTF-8", flag, name)
	}
	return line, nil
}
