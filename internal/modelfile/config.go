package modelfile

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/ridgeline/ridgeline/internal/model"
)

// family is the reader of one model_type. text names the nested object that
// holds the language model of a multimodal configuration.
type family struct {
	architectures []string
	text          string
	build         func(f *fields, m *model.Model)
}

// families maps model_type, as transformers spells it, to its reader.
var families = map[string]family{
	"llama":            {[]string{"LlamaForCausalLM"}, "", llama},
	"mistral":          {[]string{"MistralForCausalLM"}, "", mistral},
	"mixtral":          {[]string{"MixtralForCausalLM"}, "", mixtral},
	"qwen2":            {[]string{"Qwen2ForCausalLM"}, "", qwen2},
	"qwen2_moe":        {[]string{"Qwen2MoeForCausalLM"}, "", qwenMoE},
	"qwen3":            {[]string{"Qwen3ForCausalLM"}, "", qwen3},
	"qwen3_moe":        {[]string{"Qwen3MoeForCausalLM"}, "", qwenMoE},
	"qwen3_5":          {[]string{"Qwen3_5ForConditionalGeneration"}, "text_config", qwen35},
	"qwen3_5_moe":      {[]string{"Qwen3_5MoeForConditionalGeneration"}, "text_config", qwen35},
	"qwen3_5_text":     {[]string{"Qwen3_5ForCausalLM"}, "", qwen35},
	"qwen3_5_moe_text": {[]string{"Qwen3_5MoeForCausalLM"}, "", qwen35},
	"deepseek_v2":      {[]string{"DeepseekV2ForCausalLM"}, "", deepseek},
	"deepseek_v3":      {[]string{"DeepseekV3ForCausalLM"}, "", deepseek},
	"deepseek_v32":     {[]string{"DeepseekV32ForCausalLM"}, "", deepseek},
	"kimi_k2":          {[]string{"DeepseekV3ForCausalLM", "KimiK2ForCausalLM"}, "", deepseek},
	"glm_moe_dsa":      {[]string{"GlmMoeDsaForCausalLM"}, "", deepseek},
	"glm4_moe":         {[]string{"Glm4MoeForCausalLM"}, "", glm4MoE},
	"gpt_oss":          {[]string{"GptOssForCausalLM"}, "", gptOSS},
	"minimax_m2":       {[]string{"MiniMaxM2ForCausalLM"}, "", minimaxM2},
	"llama4":           {[]string{"Llama4ForConditionalGeneration"}, "text_config", llama4},
	"llama4_text":      {[]string{"Llama4ForCausalLM"}, "", llama4},
	"gemma2":           {[]string{"Gemma2ForCausalLM"}, "", gemma2},
	"gemma3":           {[]string{"Gemma3ForConditionalGeneration"}, "text_config", gemma3},
	"gemma3_text":      {[]string{"Gemma3ForCausalLM"}, "", gemma3},
	"phi3":             {[]string{"Phi3ForCausalLM"}, "", phi3},
	"nemotron":         {[]string{"NemotronForCausalLM"}, "", nemotron},
	"gpt2":             {[]string{"GPT2LMHeadModel"}, "", gpt2},
	"bloom":            {[]string{"BloomForCausalLM"}, "", bloom},
	"opt":              {[]string{"OPTForCausalLM"}, "", opt},
	"mpt":              {[]string{"MPTForCausalLM", "MptForCausalLM"}, "", mpt},
	"falcon":           {[]string{"FalconForCausalLM"}, "", falcon},
}

// ReadConfig reads a Hugging Face config.json; name is the file's name for
// messages and the model's Name. Errors are one line that names file, field and
// mend: JSON that is broken, larger than 2 MiB or not an object; an
// architecture or a field that is not understood; a size missing, of the wrong
// type or beyond any published model.
func ReadConfig(r io.Reader, name string) (*model.Model, error) {
	m, err := readConfig(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m.Name, m.Source = name, name
	return m, nil
}

func readConfig(r io.Reader) (*model.Model, error) {
	raw, err := readObject(r)
	if err != nil {
		return nil, err
	}
	top := newFields("", raw)
	fam, arch, err := findFamily(top)
	if err != nil {
		return nil, err
	}
	m := &model.Model{Architecture: arch}
	body := top
	if fam.text != "" {
		if body, err = textPart(top, fam.text, m); err != nil {
			return nil, err
		}
	}
	fam.build(body, m)
	readCheckpoint(top, body, m)
	for _, f := range slices.Compact([]*fields{top, body}) {
		f.must("is_encoder_decoder", false, "only decoder-only models are described")
		skipped, err := f.finish()
		if err != nil {
			return nil, err
		}
		m.Unsupported = append(m.Unsupported, skipped...)
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	return m, nil
}

// findFamily picks the reader from model_type, or from architectures where the
// file has no model_type; the two must agree.
func findFamily(f *fields) (fam family, arch string, err error) {
	kind, archs := f.text("model_type", ""), f.texts("architectures")
	if f.err != nil {
		return fam, "", f.err
	}
	if len(archs) > 1 {
		return fam, "", fmt.Errorf("architectures lists %d; keep the one to plan for", len(archs))
	}
	if kind == "" && len(archs) == 1 {
		for _, k := range knownTypes() {
			if kind == "" && slices.Contains(families[k].architectures, archs[0]) {
				kind = k
			}
		}
		if kind == "" {
			return fam, "", fmt.Errorf("architecture %s is not understood; known are %s", show(archs[0]), knownArchitectures())
		}
	}
	if kind == "" {
		return fam, "", fmt.Errorf("model_type and architectures are missing; add one of them")
	}
	fam, ok := families[kind]
	if !ok {
		return fam, "", fmt.Errorf("model_type %s is not understood; known are %s", show(kind), strings.Join(knownTypes(), " "))
	}
	if len(archs) == 0 {
		return fam, fam.architectures[0], nil
	}
	if !slices.Contains(fam.architectures, archs[0]) {
		return fam, "", fmt.Errorf("architecture %s is not understood for model_type %s; expected %s", show(archs[0]), kind, strings.Join(fam.architectures, " or "))
	}
	return fam, archs[0], nil
}

// textPart finds the language model inside a multimodal configuration and
// records the towers that are left out.
func textPart(top *fields, key string, m *model.Model) (*fields, error) {
	body := top.object(key)
	if top.err != nil {
		return nil, top.err
	}
	if body == nil {
		return nil, fmt.Errorf("%s is missing; add it", key)
	}
	body.used["model_type"], body.used["architectures"] = true, true
	for _, tower := range []string{"vision_config", "audio_config"} {
		if top.has(tower) {
			m.Unsupported = append(m.Unsupported, tower+": only the text part is modelled")
		}
		top.used[tower] = true
	}
	// Multimodal files state the tie beside the text part or inside it.
	if top.has("tie_word_embeddings") && !body.has("tie_word_embeddings") {
		body.m["tie_word_embeddings"] = top.m["tie_word_embeddings"]
	}
	top.used["tie_word_embeddings"] = true
	return body, nil
}

func knownTypes() []string {
	kinds := make([]string, 0, len(families))
	for k := range families {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	return kinds
}

func knownArchitectures() string {
	var names []string
	for _, k := range knownTypes() {
		names = append(names, families[k].architectures...)
	}
	sort.Strings(names)
	return strings.Join(slices.Compact(names), " ")
}
