/** An answer that is a file, with the name under which a browser saves it. */
export class FileAnswer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;

  /** Characters that are not safe in file names everywhere become `-`. */
  constructor(bytes: Uint8Array<ArrayBuffer>, name: string) {
    this.bytes = bytes;
    this.headers = { 'content-disposition': `inline; filename="${name.replaceAll(/[^\w.-]+/g, '-')}"` };
  }
}
