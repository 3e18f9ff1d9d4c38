// The teams and players of the invented season: real names and both venues' real codes, where they
// differ (jax and JAC, ari and AZ, mon and MTL) as they differ. Sources: /teams rows and slugs of
// venue a, event tickers of venue b as of 2025–26. Upholds SIMCAL3.

import type { SimSport, SimTeam } from '../model.ts'
import { ATP, CBB, CFB, GOLFERS, WTA } from './athletes.ts'

/** Every league's teams and players, by venue a's league slug. */
export function allTeams(): readonly { league: string; team: SimTeam }[] {
  return LEAGUES.flatMap(({ league }) => teamsOf(league).map((team) => ({ league, team })))
}

/** A league and how both venues speak of it. */
export interface League {
  readonly sport: SimSport
  /** Venue a's slug. */
  readonly league: string
  readonly title: string
  /** Venue b's series of winners; the lines' series have SPREAD and TOTAL for GAME. */
  readonly series: string
  /** "professional football": venue b names no league. */
  readonly phrase: string
  readonly competition: string
  readonly tag: string
  readonly points: string
  /** Usual total score and spread of the final margin. */
  readonly total: number
  readonly margin: number
  readonly durationMinutes: number
}

export const LEAGUES: readonly League[] = [
  'nfl|nfl|NFL|KXNFLGAME|professional football|Pro Football|Football|points|45|13|190',
  'nba|nba|NBA|KXNBAGAME|professional basketball|Pro Basketball (M)|Basketball|points|226|13|150',
  'mlb|mlb|MLB|KXMLBGAME|professional baseball|Pro Baseball|Baseball|runs|8|4|180',
  'nhl|nhl|NHL|KXNHLGAME|professional hockey|NHL|Hockey|goals|6|2.5|155',
  'cfb|cfb|CFB|KXNCAAFGAME|college football|College Football|Football|points|52|17|205',
  'cbb|cbb|CBB|KXNCAAMBGAME|college basketball|College Basketball (M)|Basketball|points|143|12|125',
  'tennis|atp|ATP|KXATPMATCH|tennis|ATP|Tennis|games|23|4|120',
  'tennis|wta|WTA|KXWTAMATCH|tennis|WTA|Tennis|games|21|4|105',
  'pga|pga|PGA TOUR|KXPGATOUR|golf|PGA|Golf|strokes|270|3|600',
].map((row) => {
  const [
    sport,
    league = '',
    title = '',
    series = '',
    phrase = '',
    competition = '',
    tag = '',
    ...rest
  ] = row.split('|')
  const [points = '', total = '0', margin = '1', minutes = '120'] = rest
  return {
    sport: sportOf(sport),
    league,
    title,
    series,
    phrase,
    competition,
    tag,
    points,
    total: Number(total),
    margin: Number(margin),
    durationMinutes: Number(minutes),
  }
})

/** A league's teams; empty for an unknown league. */
export function teamsOf(league: string): readonly SimTeam[] {
  return TEAMS[league] ?? []
}

/** The place as venue b writes it: two teams of one city get a letter, "Los Angeles R". */
export function kalshiPlace(league: string, team: SimTeam): string {
  if (league === 'atp' || league === 'wta') return team.nickname
  const isShared = teamsOf(league).some(
    (other) => other.place === team.place && other.nickname !== team.nickname,
  )
  if (!isShared) return team.place
  const letters = team.nickname
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
  return `${team.place} ${letters}`
}

/** Rows "cin CIN Cincinnati/Bengals"; a lone first code serves both venues. */
function proTeams(rows: string): readonly SimTeam[] {
  return rows.split(',').map((row) => {
    const [codes = '', names = ''] = [
      row.slice(0, row.indexOf(' ')),
      row.slice(row.indexOf(' ') + 1),
    ]
    const [polymarketCode = '', kalshiCode = polymarketCode] = codes.split(':')
    const [place = '', nickname = place] = names.split('/')
    const name = place === "A's" ? nickname : `${place} ${nickname}`
    return { name, place, nickname, polymarketCode, kalshiCode: kalshiCode.toUpperCase() }
  })
}

function sportOf(word: string | undefined): SimSport {
  const sports: readonly SimSport[] = ['nfl', 'nba', 'mlb', 'nhl', 'cfb', 'cbb', 'pga', 'tennis']
  return sports.find((sport) => sport === word) ?? 'nfl'
}

const TEAMS: Readonly<Record<string, readonly SimTeam[]>> = {
  nfl: proTeams(
    'ari Arizona/Cardinals,atl Atlanta/Falcons,bal Baltimore/Ravens,buf Buffalo/Bills,' +
      'car Carolina/Panthers,chi Chicago/Bears,cin Cincinnati/Bengals,cle Cleveland/Browns,' +
      'dal Dallas/Cowboys,den Denver/Broncos,det Detroit/Lions,gb Green Bay/Packers,' +
      'hou Houston/Texans,ind Indianapolis/Colts,jax:jac Jacksonville/Jaguars,kc Kansas City/Chiefs,' +
      'la Los Angeles/Rams,lac Los Angeles/Chargers,lv Las Vegas/Raiders,mia Miami/Dolphins,' +
      'min Minnesota/Vikings,ne New England/Patriots,no New Orleans/Saints,nyg New York/Giants,' +
      'nyj New York/Jets,phi Philadelphia/Eagles,pit Pittsburgh/Steelers,sea Seattle/Seahawks,' +
      'sf San Francisco/49ers,tb Tampa Bay/Buccaneers,ten Tennessee/Titans,was Washington/Commanders',
  ),
  nba: proTeams(
    'atl Atlanta/Hawks,bkn Brooklyn/Nets,bos Boston/Celtics,cha Charlotte/Hornets,' +
      'chi Chicago/Bulls,cle Cleveland/Cavaliers,dal Dallas/Mavericks,den Denver/Nuggets,' +
      'det Detroit/Pistons,gsw Golden State/Warriors,hou Houston/Rockets,ind Indiana/Pacers,' +
      'lac Los Angeles/Clippers,lal Los Angeles/Lakers,mem Memphis/Grizzlies,mia Miami/Heat,' +
      'mil Milwaukee/Bucks,min Minnesota/Timberwolves,nop New Orleans/Pelicans,nyk New York/Knicks,' +
      'okc Oklahoma City/Thunder,orl Orlando/Magic,phi Philadelphia/76ers,phx Phoenix/Suns,' +
      'por Portland/Trail Blazers,sac Sacramento/Kings,sas San Antonio/Spurs,tor Toronto/Raptors,' +
      'uta Utah/Jazz,was Washington/Wizards',
  ),
  mlb: proTeams(
    "ari:az Arizona/Diamondbacks,oak:ath A's/Athletics,atl Atlanta/Braves,bal Baltimore/Orioles," +
      'bos Boston/Red Sox,chc Chicago/Cubs,cws Chicago/White Sox,cin Cincinnati/Reds,' +
      'cle Cleveland/Guardians,col Colorado/Rockies,det Detroit/Tigers,hou Houston/Astros,' +
      'kc Kansas City/Royals,laa Los Angeles/Angels,lad Los Angeles/Dodgers,mia Miami/Marlins,' +
      'mil Milwaukee/Brewers,min Minnesota/Twins,nym New York/Mets,nyy New York/Yankees,' +
      'phi Philadelphia/Phillies,pit Pittsburgh/Pirates,sd San Diego/Padres,sea Seattle/Mariners,' +
      'sf San Francisco/Giants,stl St. Louis/Cardinals,tb Tampa Bay/Rays,tex Texas/Rangers,' +
      'tor Toronto/Blue Jays,wsh Washington/Nationals',
  ),
  nhl: proTeams(
    'ana Anaheim/Ducks,bos Boston/Bruins,buf Buffalo/Sabres,cal:cgy Calgary/Flames,' +
      'car Carolina/Hurricanes,chi Chicago/Blackhawks,col Colorado/Avalanche,' +
      'cbj Columbus/Blue Jackets,dal Dallas/Stars,det Detroit/Red Wings,edm Edmonton/Oilers,' +
      'fla Florida/Panthers,lak:la Los Angeles/Kings,min Minnesota/Wild,mon:mtl Montreal/Canadiens,' +
      'nj New Jersey/Devils,nsh Nashville/Predators,nyi New York/Islanders,nyr New York/Rangers,' +
      'ott Ottawa/Senators,phi Philadelphia/Flyers,pit Pittsburgh/Penguins,sea Seattle/Kraken,' +
      'sj San Jose/Sharks,stl St. Louis/Blues,tb Tampa Bay/Lightning,tor Toronto/Maple Leafs,' +
      'utah:uta Utah/Mammoth,van Vancouver/Canucks,las:vgk Vegas/Golden Knights,' +
      'wpg Winnipeg/Jets,wsh Washington/Capitals',
  ),
  cfb: proTeams(CFB),
  cbb: proTeams(CBB),
  atp: ATP,
  wta: WTA,
  pga: GOLFERS,
}
