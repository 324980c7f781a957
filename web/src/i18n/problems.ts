// Problems by their code (internal/web/codes.go, internal/note/faults.go), in Vietnamese; in English the server's own detail is the
// wording, but where it speaks of a file's keys and the form has a field.

import type { Format } from '../units'

type Values = Record<string, unknown>

const seconds = (v: Values, f: Format): string => f.seconds(Number(v.seconds))
const count = (x: unknown, f: Format): string => f.int(Number(x))
const words = (x: unknown): string => (Array.isArray(x) ? x.map(String).join(', ') : String(x))

const degree = (x: unknown): string => (x === 'any' ? 'tùy ý' : String(x))

export const enProblems: Record<string, (v: Values, f: Format) => string> = {
  no_run: (v) => `No run is kept here as “${words(v.id)}”, which the address names: choose another.`,
  figure_range: (v, f) => `${words(v.value)} is out of range: give ${f.num(Number(v.least))} to ${f.num(Number(v.most))}.`,
  figure_not_whole: (v) => `${words(v.value)} is no whole number: give one.`,
  nodes_unfilled: (v, f) => `${count(v.gpus, f)} GPUs do not fill nodes of ${count(v.node, f)}: use a number of GPUs that is a multiple of those per node.`,
}

export const viProblems: Record<string, (v: Values, f: Format) => string> = {
  too_many_waiting: () => 'Quá nhiều yêu cầu đang chờ trả lời: hãy thử lại sau.',
  no_turn: (v, f) => `Sau ${seconds(v, f)} vẫn chưa đến lượt: hãy thử lại sau.`,
  answers_unread: (v, f) => `Các máy khách khác chưa đọc xong câu trả lời của họ, không còn chỗ cho câu mới: hãy thử lại sau ${seconds(v, f)}.`,
  stopping: () => 'Máy chủ đang dừng: hãy khởi động lại.',
  too_long: (v, f) => `Câu trả lời mất hơn ${seconds(v, f)}: hãy cố định thêm khóa của kế hoạch, chọn cụm nhỏ hơn hoặc gửi ít yêu cầu hơn.`,
  bench_under_way: () => 'Một phép đo đang chạy, hai phép đo sẽ đo lẫn nhau: hãy chờ nó kết thúc.',
  too_many_watchers: (v, f) => `Đã có ${count(v.most, f)} trang theo dõi phép đo này, không thể thêm: hãy đóng một trang khác, hoặc thử lại sau ${seconds(v, f)}.`,
  no_services: () => 'Máy chủ này không đo dịch vụ nào: hãy khởi động nó với `ridgeline web --bench-url URL`.',
  other_service: (v) => `“${words(v.url)}” không thuộc các dịch vụ mà máy chủ này đo: hãy chọn một trong ${words(v.services)}.`,
  no_run: (v) => `Ở đây không lưu lượt chạy nào mang số “${words(v.id)}” mà địa chỉ nêu: hãy chọn lượt khác.`,
  damaged_run: (v) => `Lượt chạy số “${words(v.id)}” bị hỏng và không đọc được: hãy xóa nó bằng \`ridgeline runs delete ${words(v.id)}\` rồi đo lại.`,
  run_not_kept: () => 'Lượt đo này không được lưu: hãy lưu báo cáo của nó ra tệp, rồi xem tệp các lượt chạy (`--db`) có ghi được không.',
  unknown_name: (v) => `Không có ${v.kind === 'model' ? 'mô hình' : v.kind === 'cluster' ? 'cụm máy' : words(v.kind)} nào tên ${words(v.name)}${v.nearest ? `: gần nhất là ${words(v.nearest)}` : ''} (\`${words(v.list)}\` liệt kê tất cả).`,
  unknown_precision: (v) => `Không có độ chính xác “${words(v.name)}”: hãy dùng một trong ${words(v.known)}.`,
  degrees_misfit: (v, f) => `Kế hoạch tp=${degree(v.tp)} x cp=${degree(v.cp)} x pp=${degree(v.pp)} x dp=${degree(v.dp)} không lấp đầy ${count(v.gpus, f)} GPU (${count(v.node, f)} mỗi nút): hãy dùng các bậc có tích bằng ${count(v.gpus, f)}.`,
  no_mtp_module: (v) => `${words(v.model)} không có mô-đun MTP cho ${words(v.spec)}: hãy dùng draft:MODEL:N:ACCEPT hoặc none.`,
  context_passed: (v, f) => `Đầu vào ${count(v.isl, f)} và đầu ra ${count(v.osl, f)} vượt ${count(v.context, f)} token ngữ cảnh của ${words(v.model)}: hãy rút ngắn yêu cầu.`,
  cluster_form: (v) => `${words(v.spec)} không phải tên cụm máy: hãy viết tên GPU x số lượng, như h800x2048, hoặc một tên mà \`ridgeline clusters\` liệt kê${v.nearest ? `; gần nhất là ${words(v.nearest)}` : ''}.`,
  nodes_unfilled: (v, f) => `${count(v.gpus, f)} GPU không lấp đầy các nút ${count(v.node, f)} GPU: hãy làm cho số GPU là bội của số GPU mỗi nút.`,
  figure_range: (v, f) => `${words(v.value)} nằm ngoài khoảng: hãy cho từ ${f.num(Number(v.least))} đến ${f.num(Number(v.most))}.`,
  figure_not_whole: (v) => `${words(v.value)} không phải số nguyên: hãy cho một số nguyên.`,
}
