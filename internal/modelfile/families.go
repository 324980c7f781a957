package modelfile

import (
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
	"qwen3_next":       {[]string{"Qwen3NextForCausalLM"}, "", qwen35},
	"qwen2_5_vl":       {[]string{"Qwen2_5_VLForConditionalGeneration"}, "text_config", qwen2},
	"qwen3_vl":         {[]string{"Qwen3VLForConditionalGeneration"}, "text_config", qwen3},
	"qwen3_vl_moe":     {[]string{"Qwen3VLMoeForConditionalGeneration"}, "text_config", qwenMoE},
	"mistral3":         {[]string{"Mistral3ForConditionalGeneration"}, "text_config", mistral},
	"kimi_k25":         {[]string{"KimiK25ForConditionalGeneration"}, "text_config", deepseek},
	"gemma":            {[]string{"GemmaForCausalLM"}, "", gemma},
	"granite":          {[]string{"GraniteForCausalLM"}, "", granite},
	"granitemoe":       {[]string{"GraniteMoeForCausalLM"}, "", graniteMoE},
	"smollm3":          {[]string{"SmolLM3ForCausalLM"}, "", smolLM3},
	"seed_oss":         {[]string{"SeedOssForCausalLM"}, "", seedOSS},
	"glm4":             {[]string{"Glm4ForCausalLM"}, "", glm4},
	"olmo2":            {[]string{"Olmo2ForCausalLM"}, "", olmo},
	"olmo3":            {[]string{"Olmo3ForCausalLM"}, "", olmo},
	"olmoe":            {[]string{"OlmoeForCausalLM"}, "", olmoe},
	"cohere":           {[]string{"CohereForCausalLM"}, "", cohere},
	"cohere2":          {[]string{"Cohere2ForCausalLM"}, "", cohere},
	"starcoder2":       {[]string{"Starcoder2ForCausalLM"}, "", starcoder2},
	"gpt_neox":         {[]string{"GPTNeoXForCausalLM"}, "", gptNeoX},
	"phimoe":           {[]string{"PhiMoEForCausalLM", "PhimoeForCausalLM"}, "", phiMoE},
	"ernie4_5":         {[]string{"Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM"}, "", ernie},
	"ernie4_5_moe":     {[]string{"Ernie4_5_MoeForCausalLM", "Ernie4_5_MoEForCausalLM"}, "", ernieMoE},
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
