/** Spelled is a text whose commands, between back quotes, are set as such. */
export const Spelled = ({ text }: { text: string }) => <>{text.split('`').map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}</>
