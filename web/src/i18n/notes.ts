// Warnings and assumptions by their code (internal/note/codes.go), in Vietnamese; in
// English the server's own sentence is the wording. Values are SI, shares of 1.

import type { Format } from '../units'

type Values = Record<string, unknown>
type Wording = (v: Values, f: Format) => string

const n = (v: Values, k: string): number => Number(v[k])
const w = (v: Values, k: string): string => String(v[k])
const known = (map: Record<string, string>, x: string): string => map[x] ?? x

const rates = { HBM: 'Băng thông HBM', 'scale-up link': 'Liên kết nội bộ' }
const tensors = { weights: 'trọng số', experts: 'các chuyên gia', head: 'lớp đầu ra', 'absorbed matrices': 'các ma trận đã gộp' }
const limits = { 'kv cache': 'bộ đệm KV', 'sequence slots': 'chỗ cho chuỗi', 'prompt tokens per step': 'token prompt mỗi bước' }
const orders = { smaller: 'nhỏ', larger: 'lớn' }

/** past the queue: what a load beyond it means where no objective limits it. */
const past: Wording = (v, f) => (v.clients === undefined ? '' : ` Mức tải này đã vượt điểm xếp hàng, bắt đầu từ hơn ${f.int(n(v, 'clients'))} yêu cầu đồng thời, vì không có mục tiêu nào cho token đầu tiên.`)

/** slots: the engine's own limit of sequences, where that is what requests wait for. */
const slots: Wording = (v, f) => (v.sequences === undefined ? '' : ` Mỗi bản sao của engine sinh cùng lúc nhiều nhất ${f.int(n(v, 'sequences'))} chuỗi; đặt giới hạn chuỗi của instance cao hơn để nhận thêm.`)

export const viNotes: Record<string, Wording> = {
  rate_assumed: (v, f) => `${known(rates, w(v, 'what'))} của ${w(v, 'device')}: chưa đo, giả định bằng ${f.num(n(v, 'share'))} trị số công bố.`,
  gemm_assumed: (v, f) => `GEMM của ${w(v, 'device')} ở ${w(v, 'formats')}: chưa đo, giả định bằng ${f.num(n(v, 'share'))} trị số công bố.`,
  nic_assumed: (v, f) => `Mạng của ${w(v, 'cluster')}: chưa đo, giả định bằng ${f.num(n(v, 'share'))} tốc độ danh định của NIC.`,
  nic_latency_assumed: (v, f) => `Độ trễ mạng của ${w(v, 'cluster')}: chưa đo, giả định ${f.seconds(n(v, 'seconds'))}.`,
  links_of_pcie: (v) => `Độ trễ truyền thông tập thể của ${w(v, 'device')}: chưa đo, lấy của hai RTX PRO 6000 qua PCIe.`,
  links_of_hopper: (v) => `Độ trễ truyền thông tập thể của ${w(v, 'device')}: chưa đo, lấy của Hopper.`,
  no_kernels: (v) => `Kernel của ${w(v, 'device')}: không có hằng số cho ${w(v, 'arch')}, chỉ dùng roofline.`,
  mean_kernels: (v) => `Kernel của ${w(v, 'device')}: chưa đo, lấy trung bình của các thế hệ đã đo.`,
  kernels_of: (v) => `Kernel của ${w(v, 'device')}: chưa đo, lấy của ${w(v, 'arch')}.`,
  attention_assumed: (v, f) => `Attention chiều xuôi của ${w(v, 'device')}: chưa đo, giả định bằng ${f.num(n(v, 'share'))} tốc độ GEMM của nó.`,
  backward_assumed: (v, f) => `Attention chiều ngược của ${w(v, 'device')}: chưa đo, giả định bằng ${f.num(n(v, 'share'))} tốc độ chiều xuôi của nó.`,
  experts_assumed: (v) => `Chưa kernel nào cho chuyên gia ở ${w(v, 'format')} được đo trên thế hệ của ${w(v, 'device')}: giả định là phép nhân ${w(v, 'wide')} đọc chúng ở tốc độ bộ nhớ, điều mà các kernel đã đo của định dạng khác không đạt tới.`,
  engine_assumed: () => 'Engine khác: chưa có lần chạy nào của nó, lấy trung bình phần mà vLLM, SGLang và TensorRT-LLM thêm vào kernel của chúng.',
  no_products: (v) => `${w(v, 'device')} không nhân được ${w(v, 'format')}: ${known(tensors, w(v, 'what'))} được đọc ở ${w(v, 'format')} và nhân ở ${w(v, 'wide')}.`,
  named_format: (v) => `Tên ${w(v, 'model')} ghi ${w(v, 'word')}, cấu hình của nó không nêu lượng tử hóa: trọng số được coi là ${w(v, 'format')}; hãy chọn ${w(v, 'state')} cho trọng số nếu đúng vậy.`,

  narrow_memory: (v, f) => `Chỉ còn dư ${f.bytes(n(v, 'bytes'))}, ít hơn sai số trung vị của bộ nhớ dự đoán: hãy đo thử.`,
  zero_pipeline: () => 'Chưa đợt chạy đã công bố nào kết hợp ZeRO-3 với đường ống: ước lượng này chưa được kiểm chứng.',
  states_on_host: () => 'Không kế hoạch nào vừa khi giữ trạng thái optimizer trên thiết bị: các kế hoạch này giữ chúng ở bộ nhớ máy chủ.',
  batch_padded: (v, f) => `${f.int(n(v, 'batch'))} chuỗi không chia hết cho ${f.int(n(v, 'ranks'))} rank (mỗi rank ${f.num(n(v, 'each'))}): ${f.int(n(v, 'rest'))} rank nhận ${f.int(n(v, 'share'))}, các rank khác ${f.int(n(v, 'less'))}; engine sẽ cần batch ${f.int(n(v, 'lower'))} hoặc ${f.int(n(v, 'upper'))}.`,
  failures_left_out: () => 'Không tính các lần hỏng máy của cụm: chúng chỉ tốn thời gian của cả đợt chạy, hãy cho số token của đợt chạy.',

  latent_copies: (v, f) => `Vector ẩn MLA bị lặp lại dưới TP${f.int(n(v, 'tp'))}: ${f.int(n(v, 'copies'))} bản KV.`,
  head_copies: (v, f) => `Các đầu KV bị lặp lại dưới TP${f.int(n(v, 'tp'))}: ${f.int(n(v, 'copies'))} bản KV.`,
  rtt_idle: () => 'Thời gian khứ hồi giữa các nút không ảnh hưởng đến kế hoạch tốt nhất: mỗi bản chạy của nó nằm trong một nút.',
  plan_rtt_idle: (v) => `Thời gian khứ hồi giữa các nút không ảnh hưởng đến ${w(v, 'plan')}, vốn nằm trong một nút.`,
  queue_limit: (v, f) => `Đã hết ${known(limits, w(v, 'limit'))}: thêm yêu cầu đồng thời chỉ làm chúng chờ lâu hơn; muốn có phân vị phải mô phỏng.${slots(v, f)}${past(v, f)}`,
  queue_room: (v, f) => `Các yêu cầu phải chờ chỗ: thời gian đến token đầu tiên tăng theo từng yêu cầu thêm vào.${past(v, f)}`,
  edge_of_loads: (v) => `Điểm tốt nhất nằm ở mép dải yêu cầu đồng thời: hãy cho dải rộng hơn, ví dụ 1..${n(v, 'upto')}.`,
  slower_cache: (v, f) => `Bộ đệm KV ở ${w(v, 'kv')} làm bước decode chậm hơn ${f.percent(n(v, 'share'))} so với bf16 (${f.seconds(n(v, 'seconds'))} so với ${f.seconds(n(v, 'plain_seconds'))}): kernel attention của nó dùng hằng số khớp trên các GPU đã đo của thế hệ này (Hopper: H100 và H200), hãy kiểm tra trên ${w(v, 'device')}.`,
  roles_kept: (v, f) => `Các triển khai tách vai thực tế giữ được ${f.percent(n(v, 'least'))} đến ${f.percent(1)} tốc độ khớp giữa hai vai: ở đây lấy ${f.percent(n(v, 'taken'))}.`,
  kv_link_assumed: (v, f) => `Bộ đệm KV qua mạng với tốc độ giả định ${f.rate(n(v, 'bytes_per_second'))}, theo trung vị của các lần truyền đã công bố.`,
  kv_link_inside: (v, f) => `Bộ đệm KV ở lại trong nút và truyền ở ${f.rate(n(v, 'bytes_per_second'))}, tốc độ giữa các GPU của một nút; thời gian khởi đầu lấy theo các lần truyền đã công bố giữa các nút.`,
  priority_assumed: (v) => `Ưu tiên: số ${known(orders, w(v, 'order'))} hơn đi trước trong ${w(v, 'engine')}, theo tài liệu của nó, chưa kiểm chứng bằng lần chạy nào.`,
  requests_dropped: (v, f) => `Các yêu cầu không bao giờ chạy được đã bị bỏ, ${f.int(n(v, 'dropped'))} trên ${f.int(n(v, 'arrived'))}: ${w(v, 'reason')}`,

  highest_met: (v, f) => `Mức tải cao nhất đã thử, ${f.num(n(v, 'load'))}, vẫn đạt SLO: hãy tìm xa hơn.`,
  search_client: (v, f) => `Mục tiêu bị lỡ ở mức tải ${f.num(n(v, 'load'))} trong một giai đoạn mà máy khách không hợp lệ: giới hạn tìm được có thể là của máy khách, không phải của dịch vụ; hãy tìm lại từ một máy rảnh hơn.`,
  no_prompt_count: () => 'Dịch vụ không nói prompt có bao nhiêu token: độ dài tính theo các bộ từ vựng thường gặp, không kể khuôn mẫu.',
  other_tokenizer: (v, f) => `Dịch vụ đếm nhiều hơn tokenizer ${f.int(n(v, 'short'))} và ${f.int(n(v, 'long'))} token: tokenizer này của mô hình khác.`,
  odd_prompt_count: (v, f) => `Dịch vụ đếm ${f.int(n(v, 'short'))} token trong ${f.int(n(v, 'short_words'))} từ và ${f.int(n(v, 'long'))} trong ${f.int(n(v, 'long_words'))}: độ dài tính theo các bộ từ vựng thường gặp.`,
  answer_lengths: (v, f) => `${f.int(n(v, 'wrong'))} trên ${f.int(n(v, 'answers'))} câu trả lời không dài như yêu cầu: hãy dùng ignore_eos để có độ dài chính xác.`,
  eos_not_ignored: (v, f) => `${f.int(n(v, 'wrong'))} trên ${f.int(n(v, 'answers'))} câu trả lời không dài như yêu cầu: dịch vụ không tuân theo ignore_eos và min_tokens.`,
  prompt_lengths: (v, f) => `${f.int(n(v, 'wrong'))} trên ${f.int(n(v, 'prompts'))} prompt không dài như yêu cầu theo số đếm của dịch vụ: trung bình ${f.num(n(v, 'mean'))} token.`,
  counted_by_chunks: (v, f) => `Dịch vụ chỉ đếm token của ${f.percent(n(v, 'share'))} câu trả lời: phần còn lại đếm theo số mảnh, quá thấp khi một mảnh mang nhiều token.`,
  tokens_per_chunk: (v, f) => `Mỗi mảnh mang ${f.num(n(v, 'tokens'))} token: khoảng cách giữa các mảnh không phải độ trễ giữa các token, không thể dùng để so với engine chia mảnh khác.`,
  delayed_ack: (v, f) => `Token đầu tiên trên kết nối giữ lại đến muộn hơn ${f.seconds(n(v, 'seconds'))} so với kết nối mới: đúng bằng độ trễ xác nhận mà thuật toán Nagle chờ; hãy bật TCP_NODELAY ở dịch vụ.`,
  waited_for_place: (v, f) => `Tối đa ${f.int(n(v, 'most'))} yêu cầu đồng thời: các yêu cầu chờ chỗ ${f.seconds(n(v, 'seconds'))} (p99) và không còn đến theo ${w(v, 'arrival')}.`,
  left_late: (v, f) => `Các yêu cầu đi muộn ${f.seconds(n(v, 'seconds'))} so với lịch (p99).`,
  never_sent: (v, f) => `${f.int(n(v, 'requests'))} yêu cầu đến hạn mà không được gửi.`,
  short_steady: () => 'Tải chỉ ổn định chưa đến nửa giai đoạn: hãy lấy khoảng ổn định, hoặc thêm yêu cầu.',
  few_in_flight: (v, f) => `Trung bình chỉ ${f.num(n(v, 'mean'))} trên ${f.int(n(v, 'users'))} yêu cầu đồng thời: số đo là của mức tải nhẹ hơn mức đã yêu cầu; hãy đặt từ ${f.int(n(v, 'requests'))} yêu cầu trở lên.`,
  records_cut: (v, f) => `${w(v, 'file')} kết thúc giữa một dòng: lần chạy đã bị ngắt hoặc tệp bị cắt; phần sau đó bị thiếu, kể từ giai đoạn ${f.int(n(v, 'stage'))}.`,
  prefix_hits: (v, f) => `${f.percent(n(v, 'share'))} token của prompt đến từ bộ đệm tiền tố dù mọi prompt đều mới: hãy xóa bộ đệm, hoặc tìm tải khác trên dịch vụ.`,
  ttft_apart: (v, f) => `Máy khách thấy token đầu tiên sau ${f.seconds(n(v, 'client_seconds'))}, dịch vụ sau ${f.seconds(n(v, 'service_seconds'))}: hãy xem những gì nằm giữa, hoặc bộ phân tích suy luận.`,
  chunks_together: (v, f) => `${f.percent(n(v, 'share'))} số mảnh được đọc cùng mảnh trước: dịch vụ, thứ nằm giữa hoặc máy khách giữ các mảnh lại.`,
  other_tool: () => 'Đọc từ tệp của công cụ khác: điều tệp không nêu thì không biết.',
}
