/** An answer in the media type of its route whose text is written while it is sent. */
export class StreamedAnswer {
  readonly pieces: AsyncGenerator<string, void, undefined>;

  constructor(pieces: AsyncGenerator<string, void, undefined>) {
    this.pieces = pieces;
  }
}
