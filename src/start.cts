/** `tallyhouse start`, under the name that it had before there were other subcommands. */
process.argv.splice(2, 0, 'start');
require('./tallyhouse.cjs');
