// What an actor is: an owner of state that takes one message in one synchronous turn.
// A turn may not return a promise, and the type says so.

/** The only thing a turn may return; a promise is a type error, so nothing is awaited in one. */
export type Turn = undefined

/** An owner of changing state. */
export interface Actor<Message> {
  /** For logs: the noun and its id. */
  readonly name: string
  /**
   * Handles one message, synchronously. A throw is our bug: the system restarts the actor.
   * `waitedMs`: how long the message waited in the mailbox, 0 when it was handled at once.
   */
  receive(message: Message, waitedMs: number): Turn
  /** Comes back with clean state after a throw, and asks for what it needs. */
  restart(): void
  /**
   * The mailbox was full and this message is lost: the actor resynchronises, or has it brought back.
   * Never called for a message the actor could not bear to lose without saying so.
   */
  onOverflow(lost: Message): void
  /**
   * Whether a message is soon worth nothing: such ones wait in a line of their own, ahead of those that keep.
   * Absent: all keep.
   */
  isPerishable?(message: Message): boolean
  /** Whether a perishable message may be dropped to make room; absent: none may. */
  isDroppable?(message: Message): boolean
  /** A perishable message waits for longer than `messageAgeMsMax`; told about ten times a second while so. */
  onLate?(): void
  /** What a message weighs in the bound of all that wait, 1 being a small one; absent: 1. */
  weightOf?(message: Message): number
}
