/** Why a span of a call to a model cannot be billed. The message is returned to the sender. */
export class Unbillable extends Error {}
