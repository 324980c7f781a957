package tools

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/record"
)

// Units of perftest's bandwidth columns: its MB is 2^20 bytes (perftest's man page),
// which later versions print as MiB; --report_gbits gives 10^9 bits.
var perftestUnits = map[string]float64{"[MB/sec]": 1 << 20, "[MiB/sec]": 1 << 20, "[Gb/sec]": 1e9 / 8}

// perftest reads ib_write_bw, ib_read_lat and their kin. The average bandwidth and
// the typical (median) latency are kept. The latency of a read is a whole round trip,
// that of send and write half of one, as the tools define it. Of a bidirectional test half is one direction's.
func perftest(t *text, rec *record.Record) error {
	what, read, ways := "", false, 1.0
	scale, column := 0.0, 0
	var header string
	for i, line := range t.lines {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "#bytes"):
			what, scale, column, header = "", 0, 0, line
			if strings.Contains(line, "usec") {
				what, scale, column = "latency", 1e-6, 4
			}
			for name, s := range perftestUnits {
				if strings.Contains(line, name) {
					what, scale, column = "bandwidth", s, 3
				}
			}
		case strings.Contains(line, " Test") && (strings.Contains(line, " BW") || strings.Contains(line, "Latency")):
			read, ways = strings.Contains(line, "RDMA_Read"), 1
			if strings.Contains(line, "Bidirectional") { // the sum of both ways
				ways = 2
			}
		case strings.Contains(line, "Device") && strings.Contains(line, ":") && after(f, "Device") == ":":
			rec.Machine.Libraries = append(rec.Machine.Libraries, "NIC "+f[len(f)-1])
		case what != "" && len(f) > column:
			size, err := strconv.ParseInt(f[0], 10, 64)
			if err != nil {
				continue
			}
			v, err := strconv.ParseFloat(f[column], 64)
			n, err2 := strconv.Atoi(f[1])
			if err != nil || err2 != nil || !(v > 0) || math.IsInf(v, 0) || size <= 0 || n < 0 {
				return fmt.Errorf("line %d: %q under %q is no measurement", i+1, line, strings.Join(strings.Fields(header), " "))
			}
			r := record.Result{Kind: record.Network, What: what, Unit: "bytes/s", Value: v * scale / ways, Best: v * scale / ways, Bytes: size, Repeats: n, Nodes: 2, Kernel: "RDMA"}
			if what == "latency" {
				r.Unit = "s"
				if read {
					r.What = "round-trip"
				}
			}
			rec.Results = append(rec.Results, r)
		}
	}
	return nil
}
