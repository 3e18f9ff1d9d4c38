// Countries under their codes and names: FIFA, IOC and ISO letters differ, and venues use them freely, with
// adjectives ("Norwegian election"). Not for: clubs and teams (sides.ts). Upholds MATCHTEXT2.

import type { HandleForm } from '../../ids.ts'

/** `codes name/other name/adjective`; the first code is the identity. */
const ROWS =
  'afg+af Afghanistan/Afghan,alb+al Albania/Albanian,alg+dza+dz Algeria/Algerian,and+ad Andorra/Andorran,ang+ago+ao Angola/Angolan,' +
  'arg+ar Argentina/Argentine/Argentinian,arm+am Armenia/Armenian,aus+au Australia/Australian,aut+at Austria/Austrian,' +
  'aze+az Azerbaijan/Azerbaijani,bah+bhs+bs Bahamas/Bahamian,brn+bhr+bh Bahrain,ban+bgd+bd Bangladesh/Bangladeshi,blr+by Belarus/Belarusian,' +
  'bel+be Belgium/Belgian,ben+bj Benin/Beninese,bol+bo Bolivia/Bolivian,bih+ba Bosnia and Herzegovina/Bosnia/Bosnian,bot+bwa+bw Botswana/Batswana,' +
  'bra+br Brazil/Brazilian,bul+bgr+bg Bulgaria/Bulgarian,bur+bfa+bf Burkina Faso/Burkinabe,cam+khm+kh Cambodia/Cambodian,cmr+cm Cameroon/Cameroonian,' +
  'can+ca Canada/Canadian,cpv+cvi+cv Cape Verde/Cabo Verde,cha+tcd+td Chad/Chadian,chi+chl+cl Chile/Chilean,chn+cn China/Chinese/China PR,' +
  'col+co Colombia/Colombian,cod+cdr+cgo+cd DR Congo/Congo DR/Democratic Republic of the Congo/Congo/Congolese,crc+cri+cr Costa Rica/Costa Rican,' +
  'civ+ci Ivory Coast/Cote dIvoire/Ivorian,cro+hrv+hr Croatia/Croatian,cub+cu Cuba/Cuban,cuw+cw Curacao,cyp+cy Cyprus/Cypriot,' +
  'cze+cz Czechia/Czech Republic/Czech,den+dnk+dk Denmark/Danish,dom+do Dominican Republic/Dominican,ecu+ec Ecuador/Ecuadorian,egy+eg Egypt/Egyptian,' +
  'slv+sv El Salvador/Salvadoran,eng England/English,gnq+eqg+gq Equatorial Guinea,est+ee Estonia/Estonian,euz Eurozone/Euro Area/Euro Zone,eth+et Ethiopia/Ethiopian,fij+fji+fj Fiji/Fijian,' +
  'fin+fi Finland/Finnish,fra+fr France/French,gab+ga Gabon/Gabonese,gam+gmb+gm Gambia/Gambian,geo+ge Georgia/Georgian,ger+deu+de Germany/German,gha+gh Ghana/Ghanaian,' +
  'gre+grc+gr Greece/Greek,gua+gtm+gt Guatemala/Guatemalan,gui+gin+gn Guinea/Guinean,guy+gy Guyana/Guyanese,hai+hti+ht Haiti/Haitian,' +
  'hon+hnd+hn Honduras/Honduran,hkg+hk Hong Kong,hun+hu Hungary/Hungarian,isl+is Iceland/Icelandic,ind+in India/Indian,ina+idn+id Indonesia/Indonesian,' +
  'iri+irn+ir Iran/Iranian/IR Iran,irq+iq Iraq/Iraqi,irl+ie Ireland/Irish/Republic of Ireland,isr+il Israel/Israeli,ita+it Italy/Italian,' +
  'jam+jm Jamaica/Jamaican,jpn+jp Japan/Japanese,jor+jo Jordan/Jordanian,kaz+kz Kazakhstan/Kazakh,ken+ke Kenya/Kenyan,' +
  'kos+xkx+xk Kosovo/Kosovar/Kosovan,ksa+sau+sa Saudi Arabia/Saudi/Saudi Arabian,kuw+kwt+kw Kuwait/Kuwaiti,kgz+kg Kyrgyzstan/Kyrgyz,lao+la Laos/Laotian,lat+lva+lv Latvia/Latvian,' +
  'lib+lbn+lb Lebanon/Lebanese,lby+ly Libya/Libyan,ltu+lt Lithuania/Lithuanian,lux+lu Luxembourg,mad+mdg+mg Madagascar/Malagasy,maw+mwi+mw Malawi/Malawian,' +
  'mas+mys+my Malaysia/Malaysian,mli+ml Mali/Malian,mlt+mt Malta/Maltese,mtn+mrt+mr Mauritania/Mauritanian,mex+mx Mexico/Mexican,mda+md Moldova/Moldovan,mco+mc Monaco,' +
  'mgl+mng+mn Mongolia/Mongolian,mne+me Montenegro/Montenegrin,mar+ma Morocco/Moroccan,moz+mz Mozambique/Mozambican,mya+mmr+mm Myanmar/Burma,nam+na Namibia/Namibian,nep+npl+np Nepal/Nepalese,' +
  'ned+nld+nl Netherlands/Dutch/Holland,nzl+nz New Zealand,nca+nic+ni Nicaragua/Nicaraguan,nga+ngr+ng Nigeria/Nigerian,prk+kp North Korea/North Korean/Korea DPR,' +
  'mkd+mk North Macedonia/Macedonia,nir Northern Ireland,nor+no Norway/Norwegian,oma+omn+om Oman,pak+pk Pakistan/Pakistani,ple+pse+ps Palestine/Palestinian,' +
  'pan+pa Panama/Panamanian,par+pry+py Paraguay/Paraguayan,per+pe Peru/Peruvian,phi+phl+ph Philippines/Philippine/Filipino,pol+pl Poland/Polish,' +
  'por+prt+pt Portugal/Portuguese,pur+pri+pr Puerto Rico,qat+qa Qatar/Qatari,rou+ro Romania/Romanian,rus+ru Russia/Russian,rwa+rw Rwanda/Rwandan,' +
  'sco Scotland/Scottish,sen+sn Senegal/Senegalese,srb+rs Serbia/Serbian,sgp+sin+sg Singapore/Singaporean,svk+sk Slovakia/Slovak,slo+svn+si Slovenia/Slovenian,' +
  'som+so Somalia/Somali,rsa+zaf+za South Africa/South African,kor+kr South Korea/South Korean/Korea Republic/Republic of Korea,ssd+ss South Sudan/South Sudanese,' +
  'esp+es Spain/Spanish,sri+lka+lk Sri Lanka/Sri Lankan,sud+sdn+sd Sudan/Sudanese,sur+sr Suriname/Surinamese,swe+se Sweden/Swedish,sui+che+ch Switzerland/Swiss,syr+sy Syria/Syrian,' +
  'tpe+twn+tw Taiwan/Taiwanese/Chinese Taipei,tan+tza+tz Tanzania/Tanzanian,tha+th Thailand/Thai,tog+tgo+tg Togo/Togolese,tri+tto+tt Trinidad and Tobago,' +
  'tun+tn Tunisia/Tunisian,tur+tr Turkey/Turkiye/Turkish,uga+ug Uganda/Ugandan,ukr+ua Ukraine/Ukrainian,uae+are+ae United Arab Emirates/UAE/Emirati,' +
  'gbr+gb+uk United Kingdom/UK/Britain/British/Great Britain,usa+us United States/USA/US/America/American/United States of America,' +
  'uru+ury+uy Uruguay/Uruguayan,uzb+uz Uzbekistan/Uzbek,ven+ve Venezuela/Venezuelan,vie+vnm+vn Vietnam/Vietnamese,wal Wales/Welsh,yem+ye Yemen/Yemeni,' +
  'zam+zmb+zm Zambia/Zambian,zim+zwe+zw Zimbabwe/Zimbabwean,' +
  'brb+bb Barbados/Barbadian,blz+bz Belize/Belizean,btn+bt Bhutan/Bhutanese,bru+bn Brunei,bdi+bi Burundi/Burundian,caf+cta Central African Republic,com+km Comoros,dji+dj Djibouti,eri+er Eritrea/Eritrean,swz+sz Eswatini,grl+gl Greenland/Greenlandic,grn+gd Grenada,gnb+gw Guinea-Bissau,les+lso+ls Lesotho,lbr+lr Liberia/Liberian,lie+li Liechtenstein,mdv+mv Maldives/Maldivian,mri+mus+mu Mauritius/Mauritian,nig+ner+ne Niger/Nigerien,png+pg Papua New Guinea,sam+wsm+ws Samoa/Samoan,smr+sm San Marino,sey+syc+sc Seychelles,sle+sl Sierra Leone,tjk+tj Tajikistan/Tajik,tga+ton+to Tonga/Tongan,tkm+tm Turkmenistan/Turkmen,vat+va Vatican/Vatican City,van+vut+vu Vanuatu'

const byCode = new Map<string, string>()
const byName = new Map<string, string>()
for (const row of ROWS.split(',')) {
  const space = row.indexOf(' ')
  const codes = row.slice(0, space).split('+')
  const [identity = ''] = codes
  for (const code of codes) if (!byCode.has(code)) byCode.set(code, identity)
  for (const name of row.slice(space + 1).split('/')) byName.set(name.toLowerCase(), identity)
}
/** Adjectives that follow the name: "Malawian", "Seychellois"; names of the table go before. */
for (const [name, identity] of [...byName]) {
  if (name.length < 5 || name.includes(' ')) continue
  const bare = name.replace(/(?:ia|es|[aeoy])$/, '')
  for (const ending of ['n', 'an', 'ian', 'ese', 'i', 'ois']) {
    for (const stem of [name, bare]) {
      if (!byName.has(stem + ending)) byName.set(stem + ending, identity)
    }
  }
}

/** Codes that slugs use for another country than FIFA, IOC and ISO do. */
const SLUG_CODES: Readonly<Record<string, string>> = { kor: 'cuw', kr: 'kor' }

/** A country's identity by any of its codes, in lower case, as slugs or tickers write it; null: no country's. */
export function countryOfCode(code: string, handles: HandleForm | null = null): string | null {
  const own = handles === 'slug' ? SLUG_CODES[code] : undefined
  return own ?? byCode.get(code) ?? null
}

/** A country's identity by a folded name or adjective; null: no country's. */
export function countryOfName(name: string): string | null {
  return byName.get(name) ?? null
}

/** Every folded name and adjective with its country's identity, for the lexicon. */
export function countryNames(): Iterable<readonly [string, string]> {
  return byName
}
