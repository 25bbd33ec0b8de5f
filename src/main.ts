/** `tallyhouse start` without the settings that `tallyhouse.cts` makes first, and without a file `.env`. */
process.argv.splice(2, 0, 'start');
await import('./app/cli/main.ts');

export {};
