// One work-item walks over size x size texels (a power of two) in blocks of 2^x_log by 2^y_log, each
// texel once a pass: the block that costs least is the device's own. A texel holds the position of
// the next one in its first two lanes, and no load can begin before the one before it is there.
__kernel void block_walk(FM_TEXELS_READ(ring), FM_TEXELS_WRITE(end), int size, int size_log,
                         int x_log, int y_log, int hops FM_RECORD_PARAMETERS) {
  FM_BEGIN;
  float4 texel = (float4)(0);
  const int block_log = x_log + y_log;
  FM_FOR(hop, 0, hops, 1) {
    const int at = FM_REMAINDER(hop, size * size);
    const int row = FM_SHIFT_RIGHT(at, x_log);           // rows of blocks passed
    const int block = FM_SHIFT_RIGHT(at, block_log);     // blocks passed
    const int across = FM_SHIFT_RIGHT(size, x_log);      // blocks side by side
    const int band = FM_QUOTIENT(block, across);         // rows of blocks passed
    const int known_x = at - FM_SHIFT_LEFT(row, x_log) +
                        FM_SHIFT_LEFT(block - FM_PRODUCT(band, across), x_log);
    const int known_y = row - FM_SHIFT_LEFT(block, y_log) + FM_SHIFT_LEFT(band, y_log);
    texel = FM_LOAD4(ring, FM_KNOWN((int)texel.x, known_x), FM_KNOWN((int)texel.y, known_y));
    FM_ARITHMETIC(convert, 2);
  }
  FM_END_FOR
  FM_STORE1(end, 0, texel.x);
}
