// Normalizes names of soccer clubs, such as "Inter", "FC Internazionale Milano" and "Inter Milan". Drops words that
// many clubs share, then applies aliases.

import { foldName } from './team-names.ts'

/** Words for "club" and similar, which identify no club. */
const COMMON = new Set(
  (
    'fc cf afc cfc ac as ss ssc us sc sv ud cd rcd rc rcs ogc aj osc sco losc tsg vfl vfb fsv bc calcio ' +
    'club de da do du fk nk sk kv krc hnk hsk bsc if ff bk aek ca sd ks gnk ad cp sl acf fbc ' +
    'futbol football team hotspur'
  ).split(' '),
)

/** `club=other name|other name`, folded and without the common words. */
const ALIASES =
  'alaves=deportivo alaves,almeria=ud almeria,athletic bilbao=bilbao|athletic,' +
  'atletico madrid=atletico|atl madrid|atletico de madrid,celta=celta vigo,espanyol=espanyol barcelona,' +
  'oviedo=real oviedo,vallecano=rayo vallecano|rayo,real betis=betis|real betis balompie,mallorca=real mallorca,' +
  'real sociedad=sociedad|real sociedad san sebastian,osasuna=atletico osasuna,valladolid=real valladolid,' +
  'bournemouth=afc bournemouth,brighton=brighton and hove albion|brighton hove albion,leeds=leeds united,' +
  'leicester=leicester city,ipswich=ipswich town,manchester city=man city,' +
  'manchester united=man united|man utd|manchester utd,newcastle=newcastle united|newcastle utd,' +
  'nottingham=nottingham forest|nottm forest|forest,tottenham=spurs,west ham=west ham united|west ham utd,' +
  'wolves=wolverhampton|wolverhampton wanderers,norwich=norwich city,hull=hull city,stoke=stoke city,' +
  'swansea=swansea city,coventry=coventry city,derby=derby county,west brom=west bromwich albion|west bromwich,' +
  'qpr=queens park rangers,sheffield united=sheffield utd|sheff utd,sheffield wednesday=sheff wed|sheffield wed,' +
  'blackburn=blackburn rovers,preston=preston north end,birmingham=birmingham city,charlton=charlton athletic,' +
  'oxford=oxford united,luton=luton town,bristol city=bristol,' +
  'inter=internazionale|internazionale milano|inter milan|inter milano,milan=milan ac,verona=hellas verona,' +
  'parma=parma 1913,monza=ac monza,spezia=spezia calcio,' +
  'bayern=bayern munich|bayern munchen|bayern muenchen,cologne=koln|koeln|1 koln|1 cologne,' +
  'dortmund=borussia dortmund,monchengladbach=mgladbach|borussia monchengladbach|gladbach|borussia mgladbach,' +
  'frankfurt=eintracht frankfurt,bremen=werder bremen|werder,leverkusen=bayer leverkusen|bayer 04 leverkusen,' +
  'hamburg=hamburger,leipzig=rb leipzig|rasenballsport leipzig,hertha=hertha berlin,schalke=schalke 04,' +
  'paris=paris,psg=paris saint germain|paris st germain|paris sg,lyon=olympique lyonnais|olympique lyon,' +
  'marseille=olympique marseille,rennes=stade rennais|stade rennes|rennais,brest=stade brestois|stade brest|brestois,' +
  'lens=racing lens,strasbourg=strasbourg alsace|racing strasbourg,saint etienne=st etienne,reims=stade reims,' +
  'benfica=sporting benfica|benfica lisbon,sporting=sporting lisbon|sporting portugal,porto=porto,' +
  'ajax=ajax amsterdam,psv=psv eindhoven,feyenoord=feyenoord rotterdam,celtic=celtic glasgow,' +
  'rangers=glasgow rangers,copenhagen=kopenhagen|kobenhavn,red star=crvena zvezda|red star belgrade,' +
  'salzburg=red bull salzburg,dinamo zagreb=zagreb,olympiacos=olympiakos|olympiacos piraeus,' +
  'kairat=kairat almaty,qarabag=karabakh|qarabag agdam,bodo glimt=bodoe glimt,plzen=viktoria plzen,' +
  'dynamo kyiv=dynamo kiev,young boys=young boys bern,' +
  'la galaxy=los angeles galaxy|la g|galaxy,lafc=los angeles|la fc,new york red bulls=new york|new york rb|ny red bulls|red bulls,' +
  'nycfc=new york city|nyc,inter miami=miami|inter miami,atlanta=atlanta united,austin=austin,' +
  'chicago=chicago fire,columbus=columbus crew,colorado=colorado rapids,houston=houston dynamo,' +
  'kansas city=sporting kansas city|sporting kc,minnesota=minnesota united,montreal=montreal impact,' +
  'new england=new england revolution,orlando=orlando city,philadelphia=philadelphia union,' +
  'portland=portland timbers,salt lake=real salt lake,san jose=san jose earthquakes,' +
  'seattle=seattle sounders,st louis=saint louis|st louis city|saint louis city,vancouver=vancouver whitecaps,' +
  'dc=dc united,charlotte=charlotte'

const clubByAlias = new Map<string, string>()
for (const row of ALIASES.split(',')) {
  const [club = '', names = ''] = row.split('=')
  for (const name of names.split('|')) clubByAlias.set(name, club)
}

/** The club's canonical name; '' for an empty name. */
export function clubOf(name: string): string {
  const words = foldName(name).split(' ')
  // Drops founding years and other numbers: "1. FC Köln", "Parma Calcio 1913", "Stade Brestois 29".
  const distinctive = words.filter((word) => !COMMON.has(word) && !/^\d+$/.test(word))
  const plain = (distinctive.length === 0 ? words : distinctive).join(' ')
  return clubByAlias.get(words.join(' ')) ?? clubByAlias.get(plain) ?? plain
}

/** Reports whether one name contains the other with more words: "Parma" and "Parma Ducale". */
export function isSameClub(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  return short.length > 3 && ` ${long} `.includes(` ${short} `)
}
