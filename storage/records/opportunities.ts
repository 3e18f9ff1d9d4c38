import {
  boolean,
  choice,
  flat,
  list,
  mapped,
  marketRef,
  nested,
  number,
  orNull,
  price,
  record,
  rest,
  size,
  stated,
  text,
  time,
  usd,
} from '../../engine/codec.ts'
import {
  type BasketStep,
  CLOSE_REASONS,
  OPPORTUNITY_KINDS,
  type OpenOpportunity,
  type Opportunity,
  type OpportunityLeg,
  type OpportunityPeak,
  type OpportunityState,
  type PastLeg,
  type PastOpportunity,
} from '../../engine/opportunity.ts'
import { timeMs } from '../../engine/units.ts'
import type { PastOpportunityRow } from '../contract/rows.ts'
import { readInteger } from './keys.ts'
import { marketId, venue } from './listings.ts'

export const closeReason = choice(CLOSE_REASONS)
export const peak = nested(record<OpportunityPeak>({ profit: usd, edge: number, ageMs: number }))

const leg = record<OpportunityLeg>({
  market: marketRef,
  question: text,
  outcome: text,
  isFirst: boolean,
  bookSeq: number,
  bookAgeMs: number,
  cost: usd,
  fee: usd,
})

const kind = choice(OPPORTUNITY_KINDS)

export const opportunity = record<Opportunity>({
  id: text,
  kind,
  matchScore: orNull(number),
  legs: list(nested(leg)),
  contracts: size,
  cost: usd,
  fees: usd,
  payout: usd,
  profit: usd,
  steps: list(nested(record<BasketStep>({ contracts: size, prices: rest(price) }))),
  openedAtMs: time,
  updatedAtMs: time,
  closesAtMs: orNull(time),
  question: text,
  category: orNull(text),
  explanation: text,
  minContracts: size,
  payoutNote: orNull(text),
})

const state = record<OpportunityState>({ atMs: time, contracts: size, profit: usd })

type States = Pick<PastOpportunity, 'opened' | 'best' | 'last'>
type StoredPast = Omit<PastOpportunity, keyof States> & { readonly states: States }

/** The end time and the ordinal are in the key. */
export const pastOpportunity = record<PastOpportunityRow>({
  past: mapped<StoredPast, PastOpportunity>(
    record<StoredPast>({
      id: text,
      kind,
      matchScore: orNull(number),
      legs: flat(record<PastLeg>({ venue, market: marketId, outcome: text })),
      question: text,
      category: orNull(text),
      closesAtMs: orNull(time),
      states: nested(record<States>({ opened: state, best: state, last: state })),
      reason: closeReason,
      closedAtMs: stated(({ key }) => timeMs(readInteger(key, 0))),
    }),
    ({ opened, best, last, ...past }) => ({ ...past, states: { opened, best, last } }),
    ({ states, ...past }) => ({ ...past, ...states }),
  ),
  ordinal: stated(({ key }) => key.readUInt32BE(8)),
})

type FirstStates = Pick<OpenOpportunity, 'opened' | 'best'>
type StoredOpen = Omit<OpenOpportunity, keyof FirstStates> & { readonly states: FirstStates }

export const openOpportunity = mapped<StoredOpen, OpenOpportunity>(
  record<StoredOpen>({
    isEnded: boolean,
    states: nested(record<FirstStates>({ opened: state, best: state })),
    peak,
    last: opportunity,
  }),
  ({ opened, best, ...open }) => ({ ...open, states: { opened, best } }),
  ({ states, ...open }) => ({ ...open, ...states }),
)
