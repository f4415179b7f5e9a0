// Takes the place of libavutil's `av_crc` for CRC-32 as Matroska has it, with libdeflate's: libavformat computes one over all that
// it writes, and libavutil 5.1 to 7.1 takes as long for it as copying the file does. Nothing here is to be called.
