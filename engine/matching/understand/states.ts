// The states of the US under code and name, and districts of Congress ("TX-18", "AK-AL").
// Not for: countries (countries.ts). Upholds MATCHTEXT3.

const ROWS =
  'al Alabama,ak Alaska,az Arizona,ar Arkansas,ca California,co Colorado,ct Connecticut,de Delaware,fl Florida,' +
  'hi Hawaii,id Idaho,il Illinois,in Indiana,ia Iowa,ks Kansas,ky Kentucky,la Louisiana,me Maine,md Maryland,' +
  'ma Massachusetts,mi Michigan,mn Minnesota,ms Mississippi,mo Missouri,mt Montana,ne Nebraska,nv Nevada,nh New Hampshire,' +
  'nj New Jersey,nm New Mexico,ny New York,nc North Carolina,nd North Dakota,oh Ohio,ok Oklahoma,or Oregon,pa Pennsylvania,' +
  'ri Rhode Island,sc South Carolina,sd South Dakota,tn Tennessee,tx Texas,ut Utah,vt Vermont,va Virginia,wa Washington,' +
  'wv West Virginia,wi Wisconsin,wy Wyoming'

const byName = new Map<string, string>()
const codes = new Set<string>()
for (const row of ROWS.split(',')) {
  const code = row.slice(0, 2)
  codes.add(code)
  byName.set(row.slice(3).toLowerCase(), code)
}
const DISTRICT = /\b([a-z]{2})-(\d{1,2}|al)\b/g

/** Every folded name with its code. */
export function stateNames(): Iterable<readonly [string, string]> {
  return byName
}

/** A folded text with districts written out: "tx-18" becomes "texas district18"; at large is the state. */
export function spellDistricts(folded: string): string {
  if (!folded.includes('-')) return folded
  return folded.replace(DISTRICT, (whole, code: string, number: string) => {
    if (!codes.has(code)) return whole
    const name = [...byName].find(([, known]) => known === code)?.[0] ?? code
    return number === 'al' ? name : `${name} district${Number(number)}`
  })
}
