// The kind of question that a labelled pair asks, so that an evaluation can hold back everything of one kind at once.
// Kinds serve judging alone: nothing that scores reads them. Not for: reading questions (engine/matching/understand/).
// Upholds SCORE8.

import type { MatchEvent, MatchMarket } from '../../subject.ts'
import { fold } from '../understand/words.ts'

/** In order, the first that fits: by venue b's series, then by the words of both titles. */
const BY_SERIES: readonly (readonly [string, RegExp])[] = [
  ['game: player props', /^KX(?:NBA|WNBA|MLB|NFL)(?:2D|3D|PTS|REB|AST|TB|HR|KS)$/],
  ['game: spread', /SPREAD$/],
  ['game: totals', /TOTAL(?:MAPS)?$|BTTS$|KXIPLSIX$/],
  ['game: maps', /MAP$/],
  ['game: sets', /SETWINNER$/],
  ['game: fights', /FIGHT$|^KXUFC/],
  ['game: baseball', /^KX(?:MLB|KBO)(?:GAME|F5)$/],
  ['game: american football', /^KX(?:NFL|NCAAF)GAME$/],
  [
    'game: basketball',
    /^KX(?:NBA|WNBA|NCAAMB|BSL|BB\w*|JBLEAGUE|ARGLNB|ACB|LNB\w*|KBL|SLGREECE)GAME$/,
  ],
  ['game: hockey', /^KXNHLGAME$/],
  ['game: national teams', /^KXWCGAME$|^KXINTL/],
  ['game: other', /(?:GAME|1H|MATCH|SERIESSCORE)$/],
  ['golf places', /^KXPGA/],
  ['coin prices', /^KX(?:BTC|ETH|XRP|SOL|HYPE|DOGE)/],
  ['goods and stock prices', /^KX(?:WTI|INX|NGAS|COPPER|COCOA|USDX|USTYLD|AAAGAS)/],
  ['pardons', /PARDON/],
  ['visits', /VISIT|^KXTRUMP(?:CHINA|STATES)/],
]
const BY_WORDS: readonly (readonly [string, RegExp])[] = [
  ['coin prices', /\b(?:bitcoin|ethereum|solana|xrp|dogecoin)\b.*(?:price|above|reach|hit)/],
  ['rotten tomatoes', /rotten tomatoes/],
  ['words spoken', /\bwhat will .* say\b|\bmention|\bsaid during\b|\bwill .{3,40} say\b/],
  ['pardons', /\bpardon/],
  [
    'central banks',
    /\bfed\b|\bfomc\b|federal reserve|federal funds|\bfed funds|interest rates?\b|\bbank of\b|reserve bank|\becb\b|powell/,
  ],
  ['inflation', /\binflation\b|\bcpi\b|\bpce\b/],
  ['unemployment and jobs', /unemployment|\bjobs\b|payrolls|jobless/],
  ['growth', /\bgdp\b|recession/],
  [
    'goods and stock prices',
    /\b(?:s&p|nasdaq|treasury|oil|gold|gas prices?|gas)\b|yield|trade deficit|\bipo\b|market cap|largest company/,
  ],
  [
    'awards',
    /oscar|grammy|emmy|golden globe|\btony\b|\bbafta|academy award|eurovision|person of the year|game awards|ballon|critics choice|best (?:picture|actor|actress|director)/,
  ],
  ['nominees', /nomin|primary\b|primaries/],
  ['margins and shares', /margin of victory|turnout|vote share|popular vote|percent|% of/],
  ['seats', /\bseats?\b|majority|control|which party wins?\b.*\b(?:house|senate)/],
  [
    'state races',
    /\b(?:governor|senate|house|governorship|congress)\b.*\b(?:race|election|win)|\bwin\b.*\b(?:governor|senate|house)|win (?:[a-z]+ ){1,2}in the presidential/,
  ],
  [
    'next in office',
    /\bnext\b.*\b(?:prime minister|pm|president|chancellor|pope|leader|mayor|speaker|chair|secretary|director|coach|ceo|james bond)\b|\bnext\b.*\bteam\b|who will be .*(?:secretary|director|ambassador|chair|attorney)|who will trump (?:pick|nominate)|\breplace\b/,
  ],
  [
    'leaving office',
    /\bout\b|\bresign|\bleav|\bremove|\boust|step down|\bimpeach|\bfired?\b|retire|dropout|drop out/,
  ],
  ['approval', /approval|\bpolls?\b|favora/],
  [
    'elections abroad',
    /\belection\b|\breferendum\b|parliament|chamber|bundestag|knesset|\bround\b/,
  ],
  ['music charts', /spotify|billboard|\balbum\b|\bsong\b|artist|\bhot 100\b|taylor swift/],
  [
    'films and shows',
    /netflix|box office|opening weekend|movie|film|season|episode|love is blind|survivor|top chef|american idol|anime|mrbeast|video/,
  ],
  ['ai models', /\bai\b|\bgpt|openai|gemini|grok|claude|deepseek|\bmodel\b|\bllm/],
  [
    'sports titles',
    /champion|\bcup\b|winner|\bmvp\b|finals|playoff|league|\bopen\b|\brookie|heisman|grand prix|\bgroup\b|\bteam\b|\bcoach\b/,
  ],
  [
    'weather and earth',
    /temperature|hurricane|hottest|earthquake|snow|rain|storm|measles|disease|vaccine/,
  ],
  [
    'war and foreign affairs',
    /ceasefire|\bwar\b|iran|russia|ukraine|israel|china|putin|zelensk|treaty|nato|brics|venezuela|greenland|hamas|embassy|sanction|tariff/,
  ],
  ['meetings and visits', /\bmeet\b|\bvisit|handshake|shake hands|\battend/],
  [
    'courts',
    /arrest|\bsue|convict|guilty|court|trial|extradit|charged|jail|custody|prison|epstein/,
  ],
  [
    'us government',
    /shutdown|congress|executive order|debt|tax|\blaw\b|\bban\b|\bbill\b|doge|tiktok|\bact\b|cabinet|confirm/,
  ],
  ['companies', /\bceo\b|company|acquire|tesla|spacex|\bx\b|musk|apple|launch/],
  ['elections abroad', /\bwin\b.*\b(?:election|race)\b|mayor/],
]

/** The kind of a pair by its second side's series and both titles; `other` where nothing fits. */
export function kindOf(
  a: Pick<MatchMarket | MatchEvent, 'title'>,
  b: Pick<MatchMarket | MatchEvent, 'title' | 'subtitle'>,
  series: string,
): string {
  const titles = `${fold(b.title)} ${fold(b.subtitle)} | ${fold(a.title)}`
  for (const [kind, pattern] of BY_SERIES) if (pattern.test(series)) return kind
  for (const [kind, pattern] of BY_WORDS) if (pattern.test(titles)) return kind
  return 'other'
}
