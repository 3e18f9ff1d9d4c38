// Words that mean one thing: synonyms, abbreviations and venues' own names for leagues, offices, assets and
// measures, one identity each. General English and public names only. Not for: teams and
// people (sides.ts). Upholds MATCHTEXT2.

import { countryNames } from './countries.ts'
import { stateNames } from './states.ts'

/** `identity=phrase|phrase`: folded; the longest phrase that fits is replaced. */
const PHRASES =
  'mlb=major league baseball|pro baseball|professional baseball,nfl=pro football|professional football|national football league,' +
  'nba=pro basketball|professional basketball|national basketball association,nhl=pro hockey|professional hockey|national hockey league,' +
  'wnba=pro womens basketball|womens pro basketball,cfb=college football|ncaa football|ncaaf,cbb=college basketball|ncaab,' +
  'nl=national league,al=american league,afc=american football conference,nfc=national football conference,' +
  'pm=prime minister|premier,secgen=secretary general|secretary-general,un=united nations,eu=european union,ec=european commission,' +
  'fed=federal reserve|fomc|us federal reserve|federal open market committee,boc=bank of canada,boe=bank of england,ecb=european central bank,' +
  'boj=bank of japan,rba=reserve bank of australia,cpi=consumer price index|inflation|cpi inflation|inflation rate|cpi inflation rate,' +
  'gdp=gross domestic product|gdp growth|gdp growth rate,jobless=unemployment rate|unemployment|unemployment rate u 3,payrolls=nonfarm payrolls|non farm payrolls|jobs added|jobs report|jobs number|jobs numbers|jobs created,' +
  'nyc=new york city|nyc,washingtondc=washington dc|district of columbia,losangeles=los angeles,sanfrancisco=san francisco,philly=philadelphia,' +
  'rt=rotten tomatoes|rotten tomatoes tomatometer|tomatometer|rotten tomatoes score,btts=both teams to score|both teams score|will both teams score,' +
  'sayx=say|says|said|mention|mentions|mentioned|mentioning|utter,winx=win|wins|winner|winners|won|winning|champion|champions|win the most seats|win most seats|wins the most seats|wins most seats|most seats|control|controls|win control|control of,' +
  'outx=out|remain|remains|stay in office|stays in office|leave|leaves|leaving|resign|resigns|resigned|removed|ousted|step down|steps down|no longer be|no longer|exit|exits|depart|departs|cease to be,' +
  'nominee=nominee|nomination|nominated|primary winner|primary election|primary|nominate,governor=governor|gubernatorial|governorship,' +
  'mayor=mayor|mayoral,president=president|presidential|presidency|potus,vicepresident=vice president|vice presidential|vice presidency|vp,parliament=parliament|parliamentary,' +
  'democrat=democrat|democrats|democratic|democratics|dem|dems|democratic party,republican=republican|republicans|gop|republican party,' +
  'house=house of representatives|house seat|house race|house,senate=senate|us senate|senator|senators,election=election|elections|electoral|elected|race,' +
  'percent=percent|percentage|pct,votes=vote|votes|popular vote,approval=approval|approval rating|job approval,' +
  'movie=movie|movies|film|films,show=show|shows|tv show|series|tv series,song=song|songs|single|track,' +
  'raise=raise|raises|hike|hikes|increase|increases|rise|rises|up,cut=cut|cuts|decrease|decreases|lower|lowers|reduce|reduces|down|fall|falls,' +
  'meet=meet|meets|meeting,talk=talk|talks|speak|speaks,first=first|1st,second=second|2nd,third=third|3rd,fourth=fourth|4th,fifth=fifth|5th,' +
  'announce=announce|announces|announced|announcement,release=release|releases|released|drop|drops|come out|comes out,launch=launch|launches|launched,' +
  'acquire=acquire|acquires|buy|buys|purchase|acquisition,ipo=initial public offering|go public|ipo,' +
  'bitcoin=btc|bitcoin,ethereum=eth|ethereum|ether,solana=sol|solana,xrp=xrp|ripple,dogecoin=doge|dogecoin,hyperliquid=hype|hyperliquid,' +
  'cardano=ada|cardano,litecoin=ltc|litecoin,chainlink=chainlink,avalanche=avax,shiba=shib|shiba inu,bnb=bnb|binance coin,' +
  'wti=wti|wti crude oil|wti oil|crude oil|oil|us oil|west texas intermediate,brent=brent|brent oil|brent crude|brent crude oil,' +
  'spx=spx|sp500|s&p 500|sp 500|s&p500|inx,ndx=ndx|nasdaq 100|nasdaq-100|nasdaq100,dow=dow jones|djia|dow jones industrial average,' +
  'gold=gold|xau|xauusd|gc,silver=silver|xag|si,natgas=natural gas|ng,copper=copper|hg,nikkei=nikkei|nikkei 225|nik,' +
  'eurusd=eur/usd|eurusd|eur usd,usdjpy=usd/jpy|usdjpy|usd jpy,gbpusd=gbp/usd|gbpusd,' +
  'highest=highest|high|maximum|max,lowest=lowest|low|minimum|min,temperature=temperature|temp|temperatures,' +
  'tweet=tweet|tweets|post|posts|x posts,album=album|albums,netflix=netflix,billboard=billboard hot 100|hot 100|billboard,' +
  'top=number one|no 1|number 1|top,mvp=mvp|most valuable player,rookieofyear=rookie of the year|roty,moty=manager of the year,coty=coach of the year,' +
  'cyyoung=cy young|cy young award,group=group,qualify=qualify|qualifies|qualifier|qualifiers|qualified|qualifying,advance=advance|advances|advancing,' +
  'goalscorer=goalscorer|scorer|goal scorer|top scorer|top goalscorer|golden boot|most goals,homerun=home run|home runs|hr,' +
  'strikeout=strikeout|strikeouts|ks,stolenbase=stolen base|stolen bases,touchdown=touchdown|touchdowns|td,threes=threes|three pointers|3 pointers,' +
  'spread=spread|spreads|handicap,total=total|totals,draw=draw|tie|drawn,leader=leader|lead|leads|most,worldcup=fifa world cup|world cup,' +
  'ucl=champions league|uefa champions league,uel=europa league|uefa europa league,epl=premier league|english premier league|epl,' +
  'shutdown=shutdown|shut down,recession=recession,referendum=referendum|plebiscite,turnout=turnout|voter turnout,seat=seat|seats,' +
  'policyrate=interest rate|interest rates|key rate|key rates|base rate|cash rate|policy rate|bank rate|repo rate|benchmark rate|lending rate|deposit rate,' +
  'fundsrate=funds rate|federal funds rate|fed funds rate|federal funds,' +
  'dissent=dissent|dissents,nochange=no change|unchanged|maintain|maintains|maintain current rate|maintains current rate|maintain rate|maintains rate|maintain rates|hold|holds|hold rates|leave rates unchanged|keep rates unchanged|pause|pauses|hike 0 bps|hike rates by 0 bps|cut 0 bps,bps=bps|basis points|bp,' +
  'ai=ai|artificial intelligence,chatgpt=gpt|chatgpt,earnings=earnings|earnings call,divorce=divorce|divorced,marry=marry|married|wedding|marries,' +
  'engaged=engaged|engagement,arrest=arrest|arrested|arrests,charge=charged|indicted|indict,convict=convicted|guilty|convict,pardon=pardon|pardons|pardoned|presidential pardon|presidential pardons,' +
  'fire=fire|fires|fired,sue=sue|sues|lawsuit,visit=visit|visits|travel to,strike=strike|strikes,ceasefire=ceasefire|cease fire,' +
  'hurricane=hurricane|hurricanes,earthquake=earthquake|earthquakes,spacex=space x|spacex,timepoy=time person of the year|person of the year,' +
  'handshake=shake hands|shakes hands|handshake,federaltakeover=takeover|federal takeover,' +
  'ban=ban|bans|banned|banning|outlaw|outlawed|prohibit|prohibited,government=government|govt|gov,chiefexecutive=ceo|chief executive|chief executive officer,' +
  'covid=covid|covid19|coronavirus,prison=prison|jail|custody|behind bars,consecutive=consecutive|in a row|straight,' +
  'oscar=oscar|oscars|academy award|academy awards,tonyaward=tony awards|tony award|tonys,golden globe=golden globe|golden globes,' +
  'nominated=nominations for|nominees for|oscar nominees|grammy nominees|emmy nominees|oscar nominations|nominated for|earn a nomination|receive a nomination|grammy nominations|emmy nominations,' +
  'percent=vote share|share of the vote|share of vote,0=no|none|zero,1=one,2=two|twice,3=three,4=four,5=five,6=six,7=seven,8=eight,9=nine,10=ten,' +
  'eu=european,rename=rename|renamed|change name|change its name|name change,withdraw=withdraw|withdraws|withdrawal|pull out|pulls out|quit|quits,' +
  'dropout=drop out|drops out|dropped out|dropping out,killed=die|dies|dead|death|killed|pass away,' +
  'create=create|creates|created|establish|establishes|establishment,mostvotes=most votes,capital=market cap|market capitalization|market capitalisation|fdv|valuation,' +
  'robotaxi=robotaxi|robotaxis,circuitbreaker=circuit breaker|circuitbreaker,trump=donald trump|president trump|president donald trump|trump,' +
  'stepdown=abdicate|abdicates,impeach=impeach|impeached|impeachment,deport=deport|deports|deported|deportations|deportation,' +
  'settle=settle|settles|settlement|settled,sentence=sentence|sentenced|sentencing,testify=testify|testifies|testimony,' +
  'downgrade=downgrade|downgraded|downgrades,confirm=confirm|confirmed|confirms|confirmation,appoint=appoint|appointed|appoints|appointment,' +
  'speech=speech|remarks|address|speaks,budget=budget|reconciliation,' +
  'superbowl=super bowl|pro football championship|professional football championship|nfl championship,worldseries=world series|pro baseball championship|mlb championship,' +
  'stanleycup=stanley cup|nhl stanley cup|pro hockey championship|nhl championship,nbafinals=nba finals|pro basketball finals|pro basketball championship|nba championship|nba champion|nba title,' +
  'gta=gta|grand theft auto,proposition=prop|proposition,deal=deal|deals|agreement|accord|pact,overturn=strike down|strikes down|struck down|rule against|rules against|overturn|overturns|invalidate,' +
  'enact=pass|passes|passed|enact|enacted|become law|becomes law|signed into law,bankruptcy=bankrupt|bankruptcy|file for bankruptcy,merger=merge|merges|merger,' +
  'record=all time high|record high|ath,endorse=endorse|endorses|endorsed|endorsement,invade=invade|invades|invasion,recognize=recognize|recognise|recognizes|recognition|recognized,' +
  'extend=extend|extends|extended|extension,delay=delay|delayed|delays|postpone|postponed,cancel=cancel|cancels|cancelled|canceled|cancellation,' +
  'reelect=re elected|reelected|re election|reelection,perform=perform|performs|headline|headlines|performer,relegation=relegation|relegated|relegate,promotion=promotion|be promoted|gets promoted|get promoted|promoted to,' +
  'playoff=playoff|playoffs|postseason,shortlist=shortlist|shortlists|shortlisted|longlist|longlisted,feet=feet|foot|ft,goldmedal=gold medal|gold medals,firstpick=first overall|first overall pick|first pick|top pick|top overall pick,finalist=finalist|finalists|reach the final|reaches the final|make the final|makes the final|reach the finals|make the finals|advance to the final,dpoy=defensive player of the year|dpoy,' +
  'heisman=heisman|heisman trophy,pick=pick|picks|choose|chooses|select|selects|tap|taps,suspend=suspend|suspends|suspended|suspension,' +
  'expel=expel|expelled|expulsion,veto=veto|vetoes|vetoed,repeal=repeal|repeals|repealed,default=default|defaults|defaulted,eliminate=eliminate|eliminated|elimination|knocked out,' +
  'retire=retire|retires|retired|retirement,replace=replace|replaces|replaced|replacement|successor|succeed|succeeds,announcebid=announce candidacy|announces candidacy|run for,' +
  'attack=attack|attacks|attacked|bomb|bombs,sanction=sanction|sanctions|sanctioned,tariff=tariff|tariffs,hostage=hostage|hostages'

/** Identities that are names. */
const PROPER =
  'mlb nfl nba nhl wnba cfb cbb nl al afc nfc secgen un eu ec fed boc boe ecb boj rba nyc washingtondc losangeles sanfrancisco philly ' +
  'democrat republican bitcoin ethereum solana xrp dogecoin hyperliquid cardano litecoin chainlink avalanche shiba bnb wti brent spx ndx ' +
  'dow gold silver nikkei netflix billboard spacex chatgpt ucl uel epl worldcup trump'

/** Stop words: a question asks the same without them. */
const STOP =
  'a an the of to in on at by for will be is are was were do does did this that with from and or as it its his her their they who which what how when where if than then there any vs v s i ' +
  'has have had get gets receive receives take takes during into per about between over under above below more less least market ' +
  'price question event events after before part some not same each other another next whether anyone any someone through vs today tonight tomorrow happen happens occur occurs times go goes going there featured make makes made x ever many'

/** Words that questions add or leave out without asking another thing. */
const SOFT =
  'election race year month week day season tournament award title candidate new official officially annual full final winx leader tour edition ' +
  'announce general 2024 2025 2026 2027 2028 time number record person people political party publish chart list us country:usa parliament legislative mlb nfl nba nhl finisher championship classic cup open league the ' +
  'meet decision monetary policy board committee governing council target current role performance best prize place head general national public percent votes rate reach give gives bring policyrate use start begin become becomes include offer offered see hold put set growth form file part deal agree issue reach'

const phrases = new Map<string, string>()
for (const row of PHRASES.split(',')) {
  const cut = row.indexOf('=')
  for (const phrase of row.slice(cut + 1).split('|')) phrases.set(phrase, row.slice(0, cut))
}
for (const [name, country] of countryNames()) {
  if (!phrases.has(name)) phrases.set(name, `country:${country}`)
}
for (const [name, state] of stateNames()) {
  if (!phrases.has(name)) phrases.set(name, `state:${state}`)
}
const identities = new Set(phrases.values())
const proper = new Set(PROPER.split(' '))
const stopWords = new Set(STOP.split(' '))
// Stems have no "e" at the end.
const softWords = new Set(SOFT.split(' ').flatMap((word) => [word, word.replace(/e$/, '')]))
/** First word of a phrase → most words of a phrase that begins so. */
const lengths = new Map<string, number>()
for (const phrase of phrases.keys()) {
  const words = phrase.split(' ')
  const [first = ''] = words
  lengths.set(first, Math.max(lengths.get(first) ?? 0, words.length))
}

/** The identity of a folded phrase; null: the lexicon lacks it. */
export function meaningOf(phrase: string): string | null {
  return phrases.get(phrase) ?? null
}

/** The most words of a phrase that begins with this word; 0: no phrase does. */
export function phraseLength(first: string): number {
  return lengths.get(first) ?? 0
}

/** Whether a word counts little when the other question lacks it. */
export function isSoftWord(word: string): boolean {
  return softWords.has(word)
}

/** Whether a word stands for one or more phrases. */
export function isIdentity(word: string): boolean {
  return identities.has(word)
}

/** Whether an identity is of one thing with a name, such as an asset, a league, a party. */
export function isProper(identity: string): boolean {
  return proper.has(identity)
}

export function isStopWord(word: string): boolean {
  return stopWords.has(word)
}
