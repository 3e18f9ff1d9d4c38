// Teams of the professional leagues of North America: venue a's current slug code first, then every other code that a
// venue has used, location and nickname. Sources: the venues' team lists, tickers and slugs of 2024 to 2026.

/** League to rows `code+code Location/Nickname/other name`. */
export const PRO_TEAMS: Readonly<Record<string, string>> = {
  nfl:
    'ari+arz+az Arizona/Cardinals,atl Atlanta/Falcons,bal+blt Baltimore/Ravens,buf Buffalo/Bills,' +
    'car Carolina/Panthers,chi Chicago/Bears,cin Cincinnati/Bengals,cle+clv Cleveland/Browns,' +
    'dal Dallas/Cowboys,den Denver/Broncos,det Detroit/Lions,gb+gnb Green Bay/Packers,' +
    'hou+hst Houston/Texans,ind Indianapolis/Colts,jax+jac Jacksonville/Jaguars,' +
    'kc+kan Kansas City/Chiefs,la+lar+ram+stl Los Angeles/Rams/LA Rams,lac+sd Los Angeles/Chargers/LA Chargers,' +
    'lv+lvr+oak Las Vegas/Raiders,mia Miami/Dolphins,min Minnesota/Vikings,ne+nwe New England/Patriots,' +
    'no+nor New Orleans/Saints,nyg New York/Giants/NY Giants,nyj New York/Jets/NY Jets,' +
    'phi Philadelphia/Eagles,pit Pittsburgh/Steelers,sea Seattle/Seahawks,sf+sfo San Francisco/49ers/Niners,' +
    'tb+tam Tampa Bay/Buccaneers/Bucs,ten Tennessee/Titans,was+wsh Washington/Commanders',
  nba:
    'atl Atlanta/Hawks,bkn+bk+brk Brooklyn/Nets,bos Boston/Celtics,cha+cho Charlotte/Hornets,' +
    'chi Chicago/Bulls,cle Cleveland/Cavaliers/Cavs,dal Dallas/Mavericks/Mavs,den Denver/Nuggets,' +
    'det Detroit/Pistons,gsw+gs Golden State/Warriors,hou Houston/Rockets,ind Indiana/Pacers,' +
    'lac Los Angeles/Clippers/LA Clippers,lal Los Angeles/Lakers/LA Lakers,mem Memphis/Grizzlies,' +
    'mia Miami/Heat,mil Milwaukee/Bucks,min Minnesota/Timberwolves/Wolves,nop+no+nor New Orleans/Pelicans,' +
    'nyk+ny New York/Knicks,okc Oklahoma City/Thunder,orl Orlando/Magic,phi Philadelphia/76ers/Sixers,' +
    'phx+pho Phoenix/Suns,por Portland/Trail Blazers/Blazers,sac Sacramento/Kings,sas+sa San Antonio/Spurs,' +
    'tor Toronto/Raptors,uta+utah Utah/Jazz,was+wsh Washington/Wizards',
  mlb:
    "ari+az Arizona/Diamondbacks/D-backs,oak+ath+las Oakland/Athletics/A's/Sacramento Athletics/Las Vegas Athletics," +
    'atl Atlanta/Braves,bal Baltimore/Orioles,bos Boston/Red Sox,chc+chn Chicago/Cubs,' +
    'cws+chw+cha Chicago/White Sox,cin Cincinnati/Reds,cle Cleveland/Guardians,col Colorado/Rockies,' +
    'det Detroit/Tigers,hou Houston/Astros,kc+kcr Kansas City/Royals,laa+ana Los Angeles/Angels/LA Angels,' +
    'lad Los Angeles/Dodgers/LA Dodgers,mia+fla Miami/Marlins,mil Milwaukee/Brewers,min Minnesota/Twins,' +
    'nym New York/Mets/NY Mets,nyy New York/Yankees/NY Yankees,phi Philadelphia/Phillies,' +
    'pit Pittsburgh/Pirates,sd+sdp San Diego/Padres,sea Seattle/Mariners,sf+sfg San Francisco/Giants,' +
    'stl St. Louis/Cardinals/Saint Louis,tb+tbr Tampa Bay/Rays,tex Texas/Rangers,tor Toronto/Blue Jays,' +
    'wsh+was+wsn Washington/Nationals',
  nhl:
    'ana Anaheim/Ducks,bos Boston/Bruins,buf Buffalo/Sabres,cal+cgy Calgary/Flames,' +
    'car Carolina/Hurricanes,cbj+clb Columbus/Blue Jackets,chi Chicago/Blackhawks,col Colorado/Avalanche,' +
    'dal Dallas/Stars,det Detroit/Red Wings,edm Edmonton/Oilers,fla+flo Florida/Panthers,' +
    'lak+la Los Angeles/Kings/LA Kings,min Minnesota/Wild,mon+mtl Montreal/Canadiens,' +
    'nj+njd New Jersey/Devils,nsh+nas Nashville/Predators,nyi New York/Islanders/NY Islanders,' +
    'nyr New York/Rangers/NY Rangers,ott Ottawa/Senators,phi Philadelphia/Flyers,pit Pittsburgh/Penguins,' +
    'sea Seattle/Kraken,sj+sjs San Jose/Sharks,stl St. Louis/Blues/Saint Louis,tb+tbl Tampa Bay/Lightning,' +
    'tor Toronto/Maple Leafs,utah+uta Utah/Mammoth/Utah Hockey Club/Utah HC,van Vancouver/Canucks,' +
    'las+vgk+veg Vegas/Golden Knights/Las Vegas,wpg+win Winnipeg/Jets,wsh+was Washington/Capitals',
  wnba:
    'atl Atlanta/Dream,chi Chicago/Sky,conn+con+ct Connecticut/Sun,dal Dallas/Wings,' +
    'gsv+gs Golden State/Valkyries,ind Indiana/Fever,la+lax Los Angeles/Sparks/LA Sparks,' +
    'las+lv+lva Las Vegas/Aces,min Minnesota/Lynx,nyl+ny New York/Liberty,phx+pho Phoenix/Mercury,' +
    'por Portland/Fire,sea Seattle/Storm,tor Toronto/Tempo,wsh+was Washington/Mystics',
}
