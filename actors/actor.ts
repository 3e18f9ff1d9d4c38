// What an actor is: an owner of state that takes one message in one synchronous turn.
// A turn may not return a promise, and the type says so.

/** The only thing a turn may return; a promise is a type error, so nothing is awaited in one. */
export type Turn = undefined

/** An owner of changing state. */
export interface Actor<Message> {
  /** For logs: the noun and its id. */
  readonly name: string
  /** Handles one message, synchronously. A throw is our bug: the system restarts the actor. */
  receive(message: Message): Turn
  /** Comes back with clean state after a throw, and asks for what it needs. */
  restart(): void
  /**
   * What the mailbox does when it is full: 'drop' loses the message, and `onOverflow` has been told
   * so that it can resynchronise. Never called for a message the actor could not bear to lose
   * without saying so.
   */
  onOverflow(lost: Message): void
}
