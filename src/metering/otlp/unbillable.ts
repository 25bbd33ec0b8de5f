/** Why a span of a call to a model cannot be billed. The message goes to the sender. */
export class Unbillable extends Error {}
