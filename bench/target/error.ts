// Why a deployment cannot be loaded, in one line for whoever asked. Not for: our own bugs.

export class TargetError extends Error {}
