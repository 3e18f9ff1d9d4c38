// The sports of the interface, as they stand in paths. Not for: leagues and teams (leagues.ts).

export const SPORTS = ['nfl', 'nba', 'mlb', 'nhl', 'cfb', 'cbb', 'pga', 'tennis'] as const
export type Sport = (typeof SPORTS)[number]
