package probe

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/record"
)

// New starts a record of this machine.
func New(tool, command string) *record.Record {
	m := record.Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), CPU: procField("/proc/cpuinfo", "model name")}
	m.Host, _ = os.Hostname() // unknown where the system has none
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += " " + strings.TrimSpace(string(kernel))
	}
	if kb, _, _ := strings.Cut(procField("/proc/meminfo", "MemTotal"), " "); kb != "" {
		n, _ := strconv.ParseInt(kb, 10, 64) // 0, unknown, where the kernel prints something else
		m.MemoryBytes = n * 1024
	}
	return &record.Record{Form: record.Form, Tool: tool, Source: command, When: time.Now().UTC().Truncate(time.Second), Machine: m}
}

// procField is the first value of a key in a file of "key: value" lines; "" where
// there is none, as on systems without such files.
func procField(file, key string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if k, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
