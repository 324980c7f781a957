// Package cost turns one operation or one collective into seconds on one GPU of
// a cluster, and says which ceiling bound it. It is the only place where work
// meets rates; what overlaps with what is decided by packages train and serve.
//
// Every price is a triple: Floor, the speed of light at achieved rates with
// perfect overlap inside the operation; Upper, no overlap and pessimistic
// rates; Estimate between them. Floor <= Estimate <= Upper always.
//
// # Rates
//
// A Machine resolves each rate once: what the device achieved, else its
// datasheet figure times the usual ratio, which Assumptions then lists. The
// kernel constants of the device's generation (hw.Kernels, fitted by package
// calib) shape the estimate: they may slow an operation below the achieved rate,
// never lift it above. With Options.UsePeak the datasheet prices everything.
//
// # Operations
//
// A product of M x N x K runs in tiles of tm x tn, wave after wave on the SMs:
//
//	compute = waves x (K + fill) x max(2 tm tn x edge / (share x peak / SMs), step)
//	waves   = tiles/SMs, a last wave that is partly filled counted in part (quant)
//	time    = launch + max(compute, memory) + overlap x min(compute, memory)
//
// with the tile that ends first, or the one that the library's dispatch by rows takes;
// libraries that split K give idle SMs a part of it, and pay for the partial sums (tiles.go).
// The step is what a tile's loads allow, however small the tile. Routed experts are the same with the tiles of
// all groups together, at the rate that grouped kernels keep. Attention walks
// query tiles over their keys (attention.go). Everything else is its HBM traffic.
//
// # Serving
//
// With Options.Engine the kernels of a serving engine (hw.Engine) price products,
// experts and attention; blocks that it has no constants for are those of the
// generation's first engine that has. Decode attention splits a cache over the SMs
// (decode.go), fused experts run on the touched ones under their loads (moe.go), an
// all-reduce may take one or two passes over peer memory (oneshot.go) and the expert
// exchange its low-latency kernels (lowlatency.go).
//
// # Collectives
//
// A group of n ranks lies on N nodes with at most g of it on each. S is the
// tensor, per rank:
//
//	ring, one node        (n-1)/n S on the scale-up link
//	flat ring             (n-1)/n S on every link
//	hierarchical          (g-1)/g S scale-up, (N-1)/N S/g per NIC (a ring per rail)
//	in-switch all-reduce  S scale-up; between nodes S/g (two) or 2 S/g (more) per NIC
//	pairwise all-to-all   (g-1)/n S scale-up, (n-g)/n S per NIC
//	dispatch              distinct remote nodes per NIC, distinct GPUs scale-up
//
// all-reduce by ring makes two passes. The algorithm with the smallest estimate
// is chosen, as libraries do; Alternatives shows the others. A leaf switch with
// oversubscription x leaves 1/x of the NIC's rate to bytes that cross it; where
// rails join equal GPUs of the nodes below one leaf, bytes that stay on their
// rail do not cross, and only Upper doubts it.
package cost
