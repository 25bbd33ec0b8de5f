/** An answer in another encoding than that of its route. */
export class EncodedAnswer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mediaType: string;

  constructor(bytes: Uint8Array<ArrayBuffer>, mediaType: string) {
    this.bytes = bytes;
    this.mediaType = mediaType;
  }
}
