/** Words are names of an open set that the server chooses from: a name that is not known is said as it is. */
export interface Words {
  (key: string): string
  known: Record<string, string>
}

export const words = (known: Record<string, string>): Words => Object.assign((key: string) => known[key] ?? key, { known })
