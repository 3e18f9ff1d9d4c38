// Normalizes names of colleges, such as "NC State", "North Carolina St." and "North Carolina State Wolfpack". The
// identity is the name without nickname, after a few aliases.

import { foldName } from './team-names.ts'

/** `school=other name|other name`; folded as foldName does. */
const ALIASES =
  'alabama am=aamu,albany=university at albany|ualbany|albany ny|university,' +
  'appalachian state=app state,arkansas pine bluff=uapb,army=army west point,' +
  'byu=brigham young,cal poly=cal poly slo|cal poly san luis obispo,cal state bakersfield=csu bakersfield|bakersfield,' +
  'cal state fullerton=csu fullerton|fullerton,cal state northridge=csu northridge|csun|northridge,' +
  'california=cal|uc berkeley|california golden bears,california baptist=cal baptist,' +
  'central connecticut=central connecticut state|ccsu,charleston=college of charleston|col of charleston,' +
  'detroit mercy=detroit,east texas am=texas am commerce|tamu commerce,' +
  'etsu=east tennessee state,fairleigh dickinson=fdu,fgcu=florida gulf coast,' +
  'fiu=florida international|florida intl,florida atlantic=fau,grambling=grambling state,' +
  'iu indy=iupui|iu indianapolis,hawaii=hawaii manoa,houston christian=houston baptist,' +
  'uic=illinois chicago|ill chicago,incarnate word=uiw,kansas city=umkc|missouri kansas city,' +
  'little rock=arkansas little rock|ualr|ar little rock,liu=long island|long island brooklyn,' +
  'louisiana=louisiana lafayette|ul lafayette|la lafayette,ulm=louisiana monroe|ul monroe|la monroe,' +
  'loyola chicago=loyola il|loyola chi|loyola university chicago,loyola maryland=loyola md,' +
  'lsu=louisiana state,maryland eastern shore=umes|md eastern shore,mcneese=mcneese state,' +
  'miami=miami fl|miami florida|miami fla,miami oh=miami ohio|miami of ohio|miami university,' +
  'middle tennessee=middle tennessee state|mtsu,mississippi valley state=mvsu|miss valley state,' +
  'mississippi state=miss state,nicholls=nicholls state,' +
  'nc state=north carolina state|n carolina state,north carolina at=nc at,north carolina central=nc central,' +
  'northern iowa=uni,northern kentucky=nku,njit=new jersey tech,ole miss=mississippi,' +
  'omaha=nebraska omaha|ne omaha|neb omaha,penn=pennsylvania,pitt=pittsburgh,' +
  'pfw=purdue fort wayne|ipfw|fort wayne,queens=queens nc|queens charlotte|queens nc university,' +
  'sam houston=sam houston state,siu edwardsville=siue|southern illinois edwardsville,' +
  'se louisiana=southeastern louisiana|se la,semo=southeast missouri state|southeast missouri|se missouri state,' +
  'smu=southern methodist,south carolina upstate=usc upstate|sc upstate,south florida=usf,' +
  'southern=southern la|southern br|southern am,southern miss=southern mississippi|usm,' +
  'st bonaventure=st bona,st francis pa=st francis|st francis penn,st josephs=st josephs pa|st joes,' +
  'st marys=st marys ca|st marys cal|st marys california,st johns=st johns ny,' +
  'st thomas=st thomas mn|st thomas minnesota,stephen f austin=sfa|sf austin,tarleton=tarleton state,' +
  'tcu=texas christian,texas am corpus christi=tamu corpus christi|am corpus christi|tamucc,' +
  'ucf=central florida,uconn=connecticut,umass=massachusetts,umass lowell=massachusetts lowell|mass lowell,' +
  'unc asheville=north carolina asheville|unca,uncg=unc greensboro|north carolina greensboro,' +
  'uncw=unc wilmington|north carolina wilmington,north carolina=unc|unc chapel hill,' +
  'unlv=nevada las vegas,usc=southern california|southern cal,ut arlington=texas arlington|uta,' +
  'ut martin=tennessee martin|utm,ut rio grande valley=utrgv|texas rio grande valley,' +
  'utah tech=dixie state,utep=texas el paso,utsa=texas san antonio|ut san antonio,uab=alabama birmingham,' +
  'vcu=virginia commonwealth,vmi=virginia military,wku=western kentucky,' +
  'william and mary=wm and mary|william mary,uc santa barbara=ucsb|santa barbara,uc irvine=irvine,' +
  'uc davis=davis,uc riverside=riverside,uc san diego=ucsd,umbc=maryland baltimore county,' +
  'citadel=the citadel,gardner webb=gardner webb runnin,bowling green=bowling|bowling green state,' +
  'long beach state=cal state long beach|lbsu,sacramento state=sac state|cal state sacramento,' +
  'seattle=seattle u|seattle university,st louis=slu,mount st marys=mt st marys|mount st marys md'

/** Codes that distinguish two schools with one name. */
const NAME_BY_CODE: Readonly<Record<string, string>> = {
  'm-oh': 'miami oh',
  moh: 'miami oh',
  mum: 'miami oh',
  miaoh: 'miami oh',
  alby: 'albany',
}

/** Nicknames, which venue a appends to the school. Nicknames of several words are written with a hyphen. */
const NICKNAMES =
  '49ers aces aggies anteaters antelopes aztecs badgers banana-slugs battlin-bears beacons bearcats ' +
  'bearkats bears beavers bengals big-green big-red billikens bison black-bears black-knights blazers ' +
  'blue-demons blue-devils blue-hens blue-hose blue-raiders bluejays bobcats boilermakers bonnies ' +
  'braves broncos bruins buccaneers buckeyes buffaloes bulldogs bulls camels cardinal cardinals ' +
  'catamounts cavaliers chanticleers chargers chippewas colonels colonials commodores cornhuskers ' +
  'cougars cowboys cowgirls crimson crimson-tide crusaders cyclones delta-devils demon-deacons demons ' +
  'dolphins dons dragons ducks dukes dutchmen eagles explorers falcons fighting-camels ' +
  'fighting-hawks fighting-illini fighting-irish fighting-leathernecks firebirds flames flyers friars ' +
  'gaels gamecocks gators gauchos golden-bears golden-eagles golden-flashes golden-gophers ' +
  'golden-griffins golden-grizzlies golden-hurricane golden-knights golden-lions golden-panthers ' +
  'gophers governors great-danes green-wave greyhounds grizzlies hatters hawkeyes hawks highlanders ' +
  'hilltoppers hokies hoosiers horned-frogs hornets hoyas huskies hurricanes islanders jackrabbits ' +
  'jaguars jaspers jayhawks jets keydets knights lady-bears lady-bulldogs lady-lions lady-tigers ' +
  'lady-vols lakers lancers leathernecks leopards lions lobos longhorns lopes lumberjacks mastodons ' +
  'matadors mavericks mean-green midshipmen miners minutemen mocs monarchs mountain-hawks mountaineers ' +
  'musketeers mustangs nittany-lions norse orange ospreys owls paladins panthers patriots peacocks ' +
  'penguins phoenix pilots pioneers pirates privateers purple-aces purple-eagles quakers racers ' +
  'ragin-cajuns rainbow-warriors rainbow-wahine ramblers rams rattlers razorbacks rebels red-dragons ' +
  'red-flash red-foxes red-raiders red-storm red-wolves redbirds redhawks retrievers revolutionaries ' +
  'river-hawks roadrunners rockets roos royals runnin-bulldogs runnin-rebels saints salukis scarlet-knights ' +
  'screaming-eagles seahawks seawolves seminoles sharks shockers skyhawks sooners spartans spiders ' +
  'stags stallions sun-devils sycamores tar-heels terrapins terriers texans thunderbirds ' +
  'thundering-herd tigers titans tommies toreros trailblazers tribe tritons trojans utes vandals ' +
  'vaqueros vikings volunteers vols vulcans warhawks warriors waves wildcats wolf-pack wolfpack ' +
  'wolverines wolves yellow-jackets zips'

const schoolByAlias = new Map<string, string>()
for (const row of ALIASES.split(',')) {
  const [school = '', names = ''] = row.split('=')
  for (const name of names.split('|')) schoolByAlias.set(name, school)
}
const nicknames = new Set(NICKNAMES.split(' ').map((name) => name.replaceAll('-', ' ')))

/** Words that change the school if they follow a name. */
const DISTINGUISHING = new Set(
  (
    'state am at tech southern northern eastern western central college university international ' +
    'atlantic coastal baptist christian poly city fl oh md il pa ny nc valley lutheran wesleyan ' +
    'st methodist monroe pine little upstate charleston wilmington asheville greensboro corpus ' +
    'san el rio arlington martin commerce lowell boston merced davis irvine fort green'
  ).split(' '),
)

/** The school's canonical name from a name or a code; '' for an empty name. */
export function schoolOf(name: string, code: string): string {
  const byCode = NAME_BY_CODE[code.toLowerCase()]
  if (byCode !== undefined) return byCode
  const words = foldName(name)
    .replace(/^saint /, 'st ')
    .replace(/ st$/, ' state')
    .split(' ')
  return named(words) ?? named(withoutNickname(words)) ?? plain(withoutNickname(words))
}

/** Reports whether one name is the other plus an unlisted nickname. Never for "Ohio" and "Ohio State". */
export function isSameSchool(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (short === '' || !`${long} `.startsWith(`${short} `)) return false
  return !long
    .slice(short.length + 1)
    .split(' ')
    .some((word) => DISTINGUISHING.has(word))
}

function named(words: readonly string[]): string | null {
  const name = plain(words)
  return schoolByAlias.get(words.join(' ')) ?? schoolByAlias.get(name) ?? null
}

function plain(words: readonly string[]): string {
  const significant = words.filter(
    (word) => word !== 'university' && word !== 'the' && word !== 'of',
  )
  return (significant.length === 0 ? words : significant).join(' ')
}

function withoutNickname(words: readonly string[]): readonly string[] {
  for (const length of [3, 2, 1]) {
    const restLength = words.length - length
    if (restLength >= 1 && nicknames.has(words.slice(restLength).join(' '))) {
      const rest = words.slice(0, restLength)
      // "Ohio St. Buckeyes": the state is the last word after the nickname is removed.
      if (restLength > 1 && rest[restLength - 1] === 'st') return [...rest.slice(0, -1), 'state']
      return rest
    }
  }
  return words
}
