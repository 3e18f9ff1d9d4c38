// (written next)
import type { SimTeam } from './model.ts'
export function allTeams(): readonly { league: string; team: SimTeam }[] { return [] }
