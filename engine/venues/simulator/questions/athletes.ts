// College teams, tennis players and golfers, as rows for teams.ts; players beyond the known ones are
// invented. Not for: other uses than teams.ts. Upholds SIMCAL3.

import type { SimTeam } from '../model.ts'

/** Schools in football: "venue a's code:venue b's code School/Nickname". */
const BOTH_SPORTS =
  'alab:ala Alabama/Crimson Tide,aub Auburn/Tigers,arkst:arst Arkansas St./Red Wolves,' +
  'ark Arkansas/Razorbacks,ariz Arizona/Wildcats,arzst:asu Arizona St./Sun Devils,' +
  'army Army/Black Knights,bay Baylor/Bears,bc Boston College/Eagles,boise:bsu Boise St./Broncos,' +
  'byu BYU/Cougars,cal California/Golden Bears,clmsn:clem Clemson/Tigers,col:colo Colorado/Buffaloes,' +
  'csu Colorado St./Rams,duke Duke/Blue Devils,ecar:ecu East Carolina/Pirates,fl:fla Florida/Gators,' +
  'fsu Florida St./Seminoles,fresno:fres Fresno St./Bulldogs,gast Georgia St./Panthers,' +
  'geo:uga Georgia/Bulldogs,gtech:gt Georgia Tech/Yellow Jackets,how Howard/Bison,' +
  'hou Houston/Cougars,ill Illinois/Fighting Illini,ind Indiana/Hoosiers,iowa Iowa/Hawkeyes,' +
  'iowast:isu Iowa St./Cyclones,jmad:jmu James Madison/Dukes,ku Kansas/Jayhawks,' +
  'kst:ksu Kansas St./Wildcats,kty:uk Kentucky/Wildcats,libty:lib Liberty/Flames,' +
  'lou Louisville/Cardinals,lsu LSU/Tigers,mary:md Maryland/Terrapins,mem Memphis/Tigers,' +
  'mich Michigan/Wolverines,mchst:msu Michigan St./Spartans,minn Minnesota/Golden Gophers,' +
  'olemis:miss Ole Miss/Rebels,miz:mizz Missouri/Tigers,navy Navy/Midshipmen,' +
  'neb Nebraska/Cornhuskers,nev Nevada/Wolf Pack,unc North Carolina/Tar Heels,' +
  'ncst North Carolina St./Wolfpack,nwest:nw Northwestern/Wildcats,ndame:nd Notre Dame/Fighting Irish,' +
  'ohio Ohio/Bobcats,ohiost:osu Ohio St./Buckeyes,okla Oklahoma/Sooners,okst Oklahoma St./Cowboys,' +
  'oregon:ore Oregon/Ducks,orst Oregon St./Beavers,pennst:psu Penn St./Nittany Lions,' +
  'pitt Pittsburgh/Panthers,pur Purdue/Boilermakers,rice Rice/Owls,rutger:rutg Rutgers/Scarlet Knights,' +
  'sdst:sdsu San Diego St./Aztecs,smu SMU/Mustangs,scar South Carolina/Gamecocks,' +
  'sfl:usf South Florida/Bulls,usc USC/Trojans,soumis:usm Southern Miss/Golden Eagles,' +
  'stan Stanford/Cardinal,syra:syr Syracuse/Orange,tcu TCU/Horned Frogs,temple:tem Temple/Owls,' +
  'tenn Tennessee/Volunteers,tx:tex Texas/Longhorns,txam Texas A&M/Aggies,txst Texas St./Bobcats,' +
  'ttu Texas Tech/Red Raiders,troy Troy/Trojans,tulane:tuln Tulane/Green Wave,tulsa:tlsa Tulsa/Golden Hurricane,' +
  'ucla UCLA/Bruins,unlv UNLV/Runnin Rebels,utah Utah/Utes,utahst:usu Utah St./Aggies,' +
  'vand:van Vanderbilt/Commodores,uva Virginia/Cavaliers,vtech:vt Virginia Tech/Hokies,' +
  'wake Wake Forest/Demon Deacons,wash Washington/Huskies,wsu Washington St./Cougars,' +
  'wvir:wvu West Virginia/Mountaineers,wky:wku Western Kentucky/Hilltoppers,wisc:wis Wisconsin/Badgers,' +
  'wyom:wyo Wyoming/Cowboys,yale Yale/Bulldogs'

const ONLY_FOOTBALL =
  ',air:afa Air Force/Falcons,akron:akr Akron/Zips,apst:app Appalachian St./Mountaineers,' +
  'cmich:cmu Central Michigan/Chippewas,gasou:gaso Georgia Southern/Eagles,jvst Jacksonville St./Gamecocks,' +
  'marsh:mrsh Marshall/Thundering Herd,niu Northern Illinois/Huskies,toledo:tol Toledo/Rockets'

const ONLY_BASKETBALL =
  ',gonz Gonzaga/Bulldogs,nova:vill Villanova/Wildcats,uconn:conn UConn/Huskies,creigh:crei Creighton/Bluejays,' +
  'marq Marquette/Golden Eagles,gtown:gtwn Georgetown/Hoyas,prov Providence/Friars,' +
  "shall:hall Seton Hall/Pirates,stjohn:sju St. John's/Red Storm,xavier:xav Xavier/Musketeers," +
  'butler:but Butler/Bulldogs,depaul:dep DePaul/Blue Demons,dayton:day Dayton/Flyers,' +
  "vcu VCU/Rams,drake:drke Drake/Bulldogs,stmry:smc Saint Mary's/Gaels,davi:dav Davidson/Wildcats," +
  'harv Harvard/Crimson,prince:prin Princeton/Tigers,belm:bel Belmont/Bruins,' +
  'wichst:wich Wichita St./Shockers'

export const CFB = BOTH_SPORTS + ONLY_FOOTBALL
export const CBB = BOTH_SPORTS + ONLY_BASKETBALL

const ATP_KNOWN =
  'Jannik Sinner,Carlos Alcaraz,Alexander Zverev,Novak Djokovic,Taylor Fritz,Felix Auger-Aliassime,' +
  'Alex de Minaur,Lorenzo Musetti,Ben Shelton,Jack Draper,Alexander Bublik,Holger Rune,' +
  'Daniil Medvedev,Casper Ruud,Andrey Rublev,Karen Khachanov,Tommy Paul,Frances Tiafoe,' +
  'Jakub Mensik,Jiri Lehecka,Tomas Machac,Ugo Humbert,Grigor Dimitrov,Hubert Hurkacz'

const WTA_KNOWN =
  'Aryna Sabalenka,Iga Swiatek,Coco Gauff,Jessica Pegula,Amanda Anisimova,Elena Rybakina,' +
  'Mirra Andreeva,Jasmine Paolini,Naomi Osaka,Madison Keys,Elina Svitolina,Belinda Bencic,' +
  'Karolina Muchova,Ekaterina Alexandrova,Clara Tauson,Emma Navarro,Diana Shnaider,Liudmila Samsonova,' +
  'Paula Badosa,Qinwen Zheng,Marta Kostyuk,Dayana Yastremska,Ajla Tomljanovic,Iva Jovic'

const GOLFERS_KNOWN =
  'Scottie Scheffler,Rory McIlroy,Xander Schauffele,Tommy Fleetwood,Justin Rose,Viktor Hovland,' +
  'Collin Morikawa,Ludvig Aberg,Justin Thomas,Patrick Cantlay,Hideki Matsuyama,Sepp Straka,' +
  'Robert MacIntyre,Russell Henley,Ben Griffin,Cameron Young,Sam Burns,Keegan Bradley,Corey Conners,' +
  'Shane Lowry,Maverick McNealy,Harris English,Jordan Spieth,Adam Scott,Akshay Bhatia,Tom Kim,' +
  'Si Woo Kim,Sungjae Im,Max Homa,Tony Finau,Jason Day,Rickie Fowler,Wyndham Clark,Min Woo Lee'

const ONSETS = 'B Br D F G H K Kr L M N P R S St T V Z Ch Y'.split(' ')
const VOWELS = 'a e i o u'.split(' ')
const CODAS = 'l n r s v k b d m t'.split(' ')
const TAILS = 'ovic enko ssen ini ard ez ova in eira oglu'.split(' ')
const GIVEN =
  'Adrian Bea Cem Dana Emil Fia Goran Ines Jan Katya Luca Maja Nico Oana Piet Rea'.split(' ')

/** Players invented until there are `count`, no two with the same code at either venue. */
function players(known: string, count: number, codeLetters: (name: string) => string): SimTeam[] {
  const rows: SimTeam[] = []
  const codes = new Set<string>()
  const add = (name: string): void => {
    const nickname = name.slice(name.indexOf(' ') + 1)
    const plain = nickname.toLowerCase().replace(/[^a-z]/g, '')
    const kalshiCode = codeLetters(name)
    const polymarketCode = plain.slice(0, 7)
    if (codes.has(kalshiCode) || codes.has(polymarketCode)) return
    codes.add(kalshiCode).add(polymarketCode)
    rows.push({ name, place: name, nickname, polymarketCode, kalshiCode })
  }
  known.split(',').forEach(add)
  const all = ONSETS.length * VOWELS.length * CODAS.length
  for (let ordinal = 0; ordinal < all * TAILS.length && rows.length < count; ordinal += 1) {
    const at = (ordinal * 377) % all
    const onset = ONSETS[at % ONSETS.length] ?? ''
    const vowel = VOWELS[Math.floor(at / ONSETS.length) % VOWELS.length] ?? ''
    const coda = CODAS[Math.floor(at / (ONSETS.length * VOWELS.length))] ?? ''
    const tail = TAILS[(ordinal + Math.floor(ordinal / all)) % TAILS.length] ?? ''
    add(`${GIVEN[ordinal % GIVEN.length] ?? 'Ada'} ${onset}${vowel}${coda}${tail}`)
  }
  return rows
}

const surnameLetters = (name: string): string =>
  name
    .slice(name.indexOf(' ') + 1)
    .toUpperCase()
    .replace(/[^A-Z]/g, '')
    .slice(0, 3)

/** Golf: the first letter of the first name, three of the last, as in ADUM, BBRO. */
const initialAndSurname = (name: string): string =>
  name.charAt(0).toUpperCase() + surnameLetters(name)

export const ATP: readonly SimTeam[] = players(ATP_KNOWN, 700, surnameLetters)
export const WTA: readonly SimTeam[] = players(WTA_KNOWN, 700, surnameLetters)
export const GOLFERS: readonly SimTeam[] = players(GOLFERS_KNOWN, 160, initialAndSurname)
