// Entry point of the simulator's process, which spawn.ts forks. The process exits on a signal or when its parent exits.

import { systemClock } from '../../clock.ts'
import { openLog } from '../../process/log.ts'
import { parseChildOptions, type ReadyMessage } from './child-options.ts'
import { limitGarbage } from './garbage-limit.ts'
import { startSimulator } from './simulator.ts'

const STOP_MS_MAX = 2_000

const options = parseChildOptions(process.argv[2])
const log = openLog(options.logLevel)

// The parent may exit during start-up.
let end = (): void => process.exit(0)
process.once('disconnect', () => end())
process.once('SIGTERM', () => end())
process.once('SIGINT', () => end())

limitGarbage(options)
try {
  const simulator = await startSimulator({
    ...{ ...options, hasPast: true, clock: systemClock, log },
    ...{ basePort: 0, kalshiPublicKeyPem: null },
  })
  end = () => {
    systemClock.after(STOP_MS_MAX, () => process.exit(0))
    simulator.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  const ready: ReadyMessage = {
    kind: 'ready',
    urls: simulator.urls,
    kalshiKeyId: simulator.kalshiKeyId,
    kalshiPrivateKeyPem: simulator.kalshiPrivateKeyPem,
  }
  process.send?.(ready)
} catch (error) {
  log.fatal({ err: error }, 'the simulated venues did not start')
  process.exit(1)
}
