// Problems of the server's own state by their code (internal/web/codes.go), in
// Vietnamese; in English the server's own detail is the wording.

import type { Format } from '../units'

type Values = Record<string, unknown>

const seconds = (v: Values, f: Format): string => f.seconds(Number(v.seconds))
const count = (x: unknown, f: Format): string => f.int(Number(x))
const words = (x: unknown): string => (Array.isArray(x) ? x.map(String).join(', ') : String(x))

export const viProblems: Record<string, (v: Values, f: Format) => string> = {
  too_many_waiting: () => 'Quá nhiều yêu cầu đang chờ trả lời: hãy thử lại sau.',
  no_turn: (v, f) => `Sau ${seconds(v, f)} vẫn chưa đến lượt: hãy thử lại sau.`,
  stopping: () => 'Máy chủ đang dừng: hãy khởi động lại.',
  too_long: (v, f) => `Câu trả lời mất hơn ${seconds(v, f)}: hãy cố định thêm khóa của kế hoạch, chọn cụm nhỏ hơn hoặc gửi ít yêu cầu hơn.`,
  bench_under_way: () => 'Một phép đo đang chạy, hai phép đo sẽ đo lẫn nhau: hãy chờ nó kết thúc.',
  too_many_watchers: (v, f) => `Đã có ${count(v.most, f)} trang theo dõi phép đo này, không thể thêm: hãy đóng một trang khác, hoặc thử lại sau ${seconds(v, f)}.`,
  no_services: () => 'Máy chủ này không đo dịch vụ nào: hãy khởi động nó với `ridgeline web --bench-url URL`.',
  other_service: (v) => `“${words(v.url)}” không thuộc các dịch vụ mà máy chủ này đo: hãy chọn một trong ${words(v.services)}.`,
  no_run: (v) => `Không có lượt chạy nào mang số “${words(v.id)}”.`,
}
