package launch

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/distribution/reference"
)

// checkWords judges texts that a target or an engine takes in a grammar of its own.
func (r *Request) checkWords() error {
	for _, image := range []string{r.Image, r.RouterImage, r.Tools.Image} {
		if err := r.checkImage(image); err != nil {
			return err
		}
	}
	switch {
	case strings.Trim(r.Serve.Quantization, plainName) != "" || strings.HasPrefix(r.Serve.Quantization, "-"):
		return fmt.Errorf("quantization %q is no word of an engine: give one such as fp8 or awq", r.Serve.Quantization)
	case strings.HasPrefix(r.Train.Script, "-"):
		return fmt.Errorf("script %q reads as a flag: write ./%s", r.Train.Script, r.Train.Script)
	case strings.HasPrefix(r.Train.Data, "-"):
		return fmt.Errorf("data %q reads as a flag: write ./%s", r.Train.Data, r.Train.Data)
	case r.RDMA == gpuResource:
		return fmt.Errorf("resource %s is the GPU itself: give the RDMA device's, such as rdma/ib", r.RDMA)
	}
	if r.Target != Kube && r.Target != Ray && r.Target != Compose {
		return nil
	}
	for _, text := range slices.Concat([]string{r.ModelPath, r.Model.Name, r.Train.Data, r.Train.Script}, r.Env) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not UTF-8, which the YAML of --target %s cannot hold: rename it, or use shell or slurm", text, r.Target)
		}
	}
	return nil
}

// checkImage holds an image against the grammar of references, which also keeps it free of
// what Compose would substitute. Slurm's container plugin takes files and enroot's own
// references (nvcr.io#nvidia/pytorch:tag), too.
func (r *Request) checkImage(image string) error {
	switch {
	case image == "":
		return nil
	case strings.ContainsFunc(image, func(c rune) bool { return c <= ' ' || c == 0x7f }) || strings.HasPrefix(image, "-"):
		return fmt.Errorf("image %q has blanks or begins with a dash: write REPOSITORY:TAG", image)
	case r.Target == Slurm:
		return nil
	}
	if _, err := reference.ParseNormalizedNamed(image); err != nil {
		return fmt.Errorf("image %q is no reference of a registry (%w): write REPOSITORY:TAG", image, err)
	}
	return nil
}
