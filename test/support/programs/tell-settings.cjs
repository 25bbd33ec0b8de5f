/** Loaded before a program: says at its end which settings of the process it ended with. */
process.once('exit', () => {
  const { JE_MALLOC_CONF, UV_THREADPOOL_SIZE } = process.env;
  process.stdout.write(JSON.stringify({ JE_MALLOC_CONF, UV_THREADPOOL_SIZE }));
});
