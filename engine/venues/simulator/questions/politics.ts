// Questions on politics: elections, approval, words in speeches, and whether someone does something
// by a date. All persons and parties are invented. Upholds SIMCAL4 and SIMCAL5.

import { hash32 } from '../../../random.ts'
import { DAY_MS } from '../../../units.ts'
import {
  choiceAnswers,
  listAnswers,
  numberOf,
  rangeAnswers,
  singleAnswer,
  strikesAround,
  underRules,
} from './answers.ts'
import { easternTime, longDate, longDay, shortDate, stampDay } from './eastern.ts'
import { gridSize } from './grid-size.ts'
import { capitals, type Person, person, pickAt, place } from './names.ts'
import { pathAt, type Wave } from './path.ts'
import type { Asked, Family, View, Words } from './question.ts'
import { everyDays } from './schedule.ts'
import { variantOf } from './variants.ts'

/** "Who will win the Alderville mayoral election?" */
export const ELECTION: Family = {
  name: 'election',
  topic: 'politics',
  share: 0.05,
  variant(ordinal, size) {
    const office = pickAt(OFFICES, ordinal)
    const where = place(ordinal)
    const count = gridSize(size, { least: 3 + (ordinal % 2), most: 6 })
    return variantOf({
      key: `election/${ordinal}`,
      schedule: everyDays({
        days: 40 + (ordinal % 6) * 10,
        dayPhase: numberOf(90, ordinal, 'election'),
        minuteOfDay: 19 * 60 + ((ordinal * 35) % 240),
      }),
      lifeMs: 30 * DAY_MS,
      count,
      traps: ['other_date', 'other_rules'],
      otherDateMs: 14 * DAY_MS,
      interest: ordinal < 3 ? 5 : 0.8,
      ask: (view) => askElection(view, { office, where, ordinal, count }),
    })
  },
}

/** "President Hallford's approval rating on November 20?" */
export const APPROVAL: Family = {
  name: 'approval',
  topic: 'politics',
  share: 0.02,
  variant(ordinal, size) {
    const leader = person(5000 + ordinal)
    const count = gridSize(size, { least: 4, most: 8 })
    return variantOf({
      key: `approval/${leader.code}`,
      schedule: everyDays({
        days: 7,
        dayPhase: ordinal % 7,
        minuteOfDay: 10 * 60 + ((ordinal * 55) % 480),
      }),
      lifeMs: 5 * DAY_MS,
      count,
      traps: ['other_date', 'other_rules', 'other_threshold'],
      interest: ordinal === 0 ? 2 : 0.5,
      ask: (view) => askApproval(view, leader, count),
    })
  },
}

/** "What will Marford say during the address?": any of some words. */
export const MENTION: Family = {
  name: 'mention',
  topic: 'politics',
  share: 0.015,
  variant(ordinal, size) {
    const speaker = person(5000 + ordinal)
    const count = gridSize(size, { least: 3, most: 14 })
    return variantOf({
      key: `mention/${speaker.code}`,
      schedule: everyDays({
        days: 5 + (ordinal % 3),
        dayPhase: numberOf(7, ordinal, 'mention'),
        minuteOfDay: 11 * 60 + ((ordinal * 85) % 660),
      }),
      lifeMs: 3 * DAY_MS,
      count,
      traps: ['other_date', 'other_rules'],
      otherDateMs: 2 * DAY_MS,
      interest: 0.6,
      ask: (view) => askMention(view, speaker, count),
    })
  },
}

/** "Will Marford resign by November 20?"; without end. */
export const BY_DATE: Family = {
  name: 'by date',
  topic: 'politics',
  share: 0.03,
  variant(ordinal) {
    const subject = person(10_000 + ordinal)
    const deed = pickAt(DEEDS, ordinal + Math.floor(ordinal / DEEDS.length))
    return variantOf({
      key: `deed/${subject.code}`,
      schedule: everyDays({
        days: 20 + ((ordinal * 7) % 60),
        dayPhase: numberOf(80, subject.code, 'phase'),
        minuteOfDay: 9 * 60 + ((ordinal * 115) % 840),
      }),
      lifeMs: 20 * DAY_MS,
      count: 1,
      traps: ['other_date', 'opposite_side', 'other_rules'],
      otherDateMs: 11 * DAY_MS,
      interest: 0.7,
      ask: (view) => askDeed(view, subject, deed),
    })
  },
}

function askElection(
  view: View,
  contest: { office: Office; where: string; ordinal: number; count: number },
): Asked {
  const isA = view.venue === 'a'
  const { office, where, ordinal, count } = contest
  const at = easternTime(view.closeMs)
  // Candidates of one contest are neighbours, so that no two share a surname.
  const base = numberOf(39_000, ordinal, view.cycle, 'field')
  const names = Array.from({ length: count }, (_, index) => person(base + index)).map((who) => ({
    label: who.name,
    code: who.code.slice(0, 4) + who.first.charAt(0) + String(who.code.length),
  }))
  return {
    form: 'choice',
    answers: choiceAnswers(view, uniqueCodes(names)),
    format: String,
    unit: 1,
    isInclusive: false,
    words: {
      series: isA ? 'elections' : `KX${office.code}${capitals(where)}`,
      seriesTitle: isA ? 'Elections' : `${where} ${office.title}`,
      stamp: stampDay(at),
      title: isA
        ? `${where} ${office.title} Election Winner (${longDate(at)})`
        : `${where} ${office.title} winner?`,
      subtitle: isA ? '' : `Election of ${shortDate(at)}`,
      category: isA ? 'Politics' : 'Elections',
      tags: isA ? ['Politics', 'Elections', where] : ['US Elections'],
      question: (name) =>
        isA
          ? `Will ${name} win the ${longDay(at)}, ${at.year} ${where} ${office.title} election?`
          : `Who will win the ${where} ${office.title} election?`,
      clause: (name) =>
        isA
          ? `${name} wins the ${where} ${office.title} election scheduled for ${longDate(at)}`
          : `${name} wins the ${shortDate(at)} election for ${office.title} of ${where}`,
      remarks: isA
        ? 'The resolution source for this market is a consensus of credible reporting; in case of ' +
          'ambiguity, the official certification of the results.'
        : view.trap === 'other_rules'
          ? `The market resolves on who is sworn in as ${office.title}, not on the count of the votes.`
          : 'The market resolves on the result certified by the election authority.',
    },
  }
}

function askApproval(view: View, leader: Person, count: number): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  const seed = hash32(view.seed, 'approval', leader.code)
  const guess = 43 + pathAt(seed, APPROVAL_WAVES, view.plainCloseMs - 5 * DAY_MS)
  const result = underRules(view, 43 + pathAt(seed, APPROVAL_WAVES, view.closeMs), 0.6)
  const edges = strikesAround(view, { guess, step: 0.5, count: count - 1, shift: 0.2 })
  const poll = isA ? "the Silver Ledger's poll average" : 'the RealClear average'
  return {
    form: 'range',
    answers: rangeAnswers(edges, 0.1, { guess, spread: 0.7, result }),
    format: (value) => `${value.toFixed(1)}%`,
    unit: 0.1,
    isInclusive: false,
    words: {
      series: isA ? `${capitals(leader.last).toLowerCase()}-approval` : `KXAPR${leader.code}`,
      seriesTitle: `${leader.last} approval rating`,
      stamp: stampDay(at),
      title: isA
        ? `President ${leader.last}'s approval rating on ${longDate(at)}?`
        : `${leader.name}'s approval rating on ${shortDate(at)}?`,
      subtitle: isA ? '' : `On ${shortDate(at)}`,
      category: 'Politics',
      tags: isA ? ['Politics', 'Approval', leader.last] : ['Approval'],
      question: (phrase) =>
        isA
          ? `Will President ${leader.name}'s approval rating be ${phrase} on ${longDate(at)}?`
          : `Will ${leader.name}'s approval rating be ${phrase} on ${shortDate(at)}?`,
      clause: (phrase) =>
        `${leader.name}'s approval rating in ${poll} is ${phrase} on ${longDate(at)}`,
      remarks:
        view.trap === 'other_rules'
          ? 'The rating is that of the latest single poll in the average, not the average itself.'
          : 'The source reports the rating to one decimal point, and that is the precision used.',
    },
  }
}

function askMention(view: View, speaker: Person, count: number): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  const start = numberOf(TERMS.length, view.key, 'terms')
  const terms = Array.from({ length: count }, (_, index) => pickAt(TERMS, start + index))
  const draw = view.trap === 'other_date' ? { ...view, key: view.resultKey } : view
  return {
    form: 'list',
    answers: listAnswers(
      draw,
      terms.map((term) => ({ label: term, code: capitals(term).slice(0, 9) })),
    ),
    format: String,
    unit: 1,
    isInclusive: false,
    words: {
      series: isA ? `${capitals(speaker.last).toLowerCase()}-mentions` : `KXSAY${speaker.code}`,
      seriesTitle: `What will ${speaker.last} say?`,
      stamp: stampDay(at),
      title: isA
        ? `What will ${speaker.name} say during the address on ${longDate(at)}?`
        : `What will ${speaker.name} say during the ${shortDate(at)} address?`,
      subtitle: isA ? '' : `On ${shortDate(at)}`,
      category: isA ? 'Politics' : 'Mentions',
      tags: isA ? ['Politics', 'Mention Markets'] : ['Politicians'],
      question: (term) =>
        isA
          ? `Will ${speaker.name} say "${term}" during the address on ${longDate(at)}?`
          : `What will ${speaker.name} say during the ${shortDate(at)} address?`,
      clause: (term) =>
        isA
          ? `${speaker.name} says the listed term "${term}" during the address of ${longDate(at)}`
          : `${speaker.name} says "${term}" as part of the address scheduled for ${shortDate(at)}`,
      remarks:
        view.trap === 'other_rules'
          ? 'Only the exact form of the word counts; plurals and possessives do not.'
          : 'Pluralization and possessives of the term will count; other forms will not.',
    },
  }
}

function askDeed(view: View, subject: Person, deed: Deed): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  const label = view.trap === 'opposite_side' ? `After ${longDate(at)}` : `Before ${longDate(at)}`
  const words: Words = {
    series: isA ? deed.slug : `KX${deed.code}${subject.code}`,
    seriesTitle: `${subject.name} ${deed.noun}`,
    stamp: stampDay(at),
    title: isA
      ? `${subject.name} ${deed.noun} by ${longDate(at)}?`
      : `Will ${subject.name} ${deed.verb} before ${shortDate(at)}?`,
    subtitle: isA ? '' : `Before ${shortDate(at)}`,
    category: 'Politics',
    tags: isA ? ['Politics', deed.tag] : [deed.tag],
    question: () =>
      isA
        ? `Will ${subject.name} ${deed.verb} by ${longDate(at)}?`
        : `Will ${subject.name} ${deed.verb} before ${shortDate(at)}?`,
    clause: () =>
      isA
        ? `${subject.name} ${deed.past} between this market's creation and ${longDate(at)}, 11:59 PM ET`
        : `${subject.name} ${deed.past} before ${shortDate(at)}`,
    negatedQuestion: () => `Will ${subject.name} not ${deed.verb} before ${shortDate(at)}?`,
    negatedClause: () =>
      `it is not the case that ${subject.name} ${deed.past} before ${shortDate(at)}`,
    remarks:
      view.trap === 'other_rules'
        ? 'An announcement alone does not suffice: the change must have taken effect.'
        : isA
          ? 'An announcement before the resolution date will suffice, regardless of when it takes ' +
            'effect. The resolution source is a consensus of credible reporting.'
          : 'An official announcement is sufficient. Sources are The New York Times, the Associated ' +
            'Press and Reuters.',
  }
  return {
    form: 'single',
    answers: [singleAnswer(view, { label, code: '' })],
    format: String,
    unit: 1,
    isInclusive: false,
    words,
  }
}

/** Codes made different by a digit where two names share one. */
function uniqueCodes(
  names: readonly { label: string; code: string }[],
): readonly { label: string; code: string }[] {
  const seen = new Set<string>()
  return names.map((name, index) => {
    const code = seen.has(name.code) ? `${name.code}${index}` : name.code
    seen.add(code)
    return { label: name.label, code }
  })
}

const APPROVAL_WAVES: readonly Wave[] = [
  { amplitude: 5, scaleMs: 150 * DAY_MS },
  { amplitude: 0.8, scaleMs: 8 * DAY_MS },
]

interface Office {
  readonly title: string
  readonly code: string
}

const OFFICES: readonly Office[] = [
  { title: 'Mayor', code: 'MAYOR' },
  { title: 'Governor', code: 'GOV' },
  { title: 'Senator', code: 'SENATE' },
  { title: 'Representative', code: 'HOUSE' },
  { title: 'Attorney General', code: 'AG' },
  { title: 'County Executive', code: 'COUNTY' },
]

interface Deed {
  readonly slug: string
  readonly code: string
  readonly verb: string
  readonly past: string
  readonly noun: string
  readonly tag: string
}

const DEEDS: readonly Deed[] = [
  'resign|RESIGN|resign|announces a resignation|resignation|Congress',
  'run-for-president|RUNPRES|run for president|announces a candidacy for president|candidacy|US Elections',
  'impeached|IMPEACH|be impeached|is impeached by the House|impeachment|Congress',
  'cabinet|CABINET|leave the cabinet|ceases to be a member of the cabinet|cabinet exit|Trump',
  'confirmed|CONFIRM|be confirmed by the Senate|is confirmed by the Senate|confirmation|Congress',
  'pardon|PARDON|be pardoned|receives a presidential pardon|pardon|SCOTUS & courts',
  'visit|VISIT|visit the White House|visits the White House|White House visit|International',
  'bill|BILL|have a bill signed into law|has a sponsored bill signed into law|bill|Bills',
].map((row) => {
  const [slug = '', code = '', verb = '', past = '', noun = '', tag = ''] = row.split('|')
  return { slug, code, verb, past, noun, tag }
})

const TERMS = (
  'Tariff,Inflation,Border,Bitcoin,Nobel,Hottest Country,Groceries,Autopen,Golden Age,Shutdown,' +
  'Interest Rate,Nuclear,Ceasefire,Football,Artificial Intelligence,Gasoline,Beautiful,Medicare,' +
  'Supreme Court,Space,Rare Earth,Filibuster,Crime,Peace Deal,Drill'
).split(',')
