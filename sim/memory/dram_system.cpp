#include "sim/memory/dram_channel.hpp"

namespace fm {

DramSystem::DramSystem(const Clock& clock, const DramParameters& parameters)
    : parameters_(parameters),
      interleave_(parameters.interleave),
      channel_count_(parameters.channels),
      answer_order_(parameters.channels) {
  DramChannel::Outlet* const outlet = this;
  for (std::uint32_t i = 0; i < parameters.channels; ++i) {
    const std::string name = "dram" + std::to_string(i);
    channels_.push_back(std::make_unique<DramChannel>(name.c_str(), clock, parameters, i, outlet));
  }
}

std::uint16_t DramSystem::attach(LineSink* sink, Ticks latency) {
  sources_.push_back({sink, latency});
  return static_cast<std::uint16_t>(sources_.size() - 1);
}

void DramSystem::receive(const LineRequest& request) {
  ++traffic_.requests_of(request.client, request.kind);
  const std::uint64_t unit = interleave_.quotient(request.address);
  const std::uint64_t above = channel_count_.quotient(unit);
  // Neighbouring units go to different channels; higher bits rotate them, so that strides use all
  // channels.
  std::uint64_t channel = unit;
  for (std::uint64_t bits = above; parameters_.channels > 1 && bits != 0;
       bits = channel_count_.quotient(bits)) {
    channel += bits;
  }
  const std::uint64_t local =
      above * parameters_.interleave + interleave_.remainder(request.address);
  channels_[channel_count_.remainder(channel)]->receive(request, local);
}

void DramSystem::answer(std::uint32_t channel, const LineRequest& request, Ticks leaves) {
  ++traffic_.answers_of(request.client, request.kind);
  const Source& source = sources_[request.source];
  LineAnswer answer;
  answer.time = leaves + source.latency;
  answer.order = std::uint64_t{channel} << 48 | answer_order_[channel]++;
  answer.tag = request.tag;
  source.sink->answer(answer);
}

void DramSystem::set_speed(double speed) {
  for (const auto& channel : channels_) channel->set_speed(speed);
}

std::uint64_t DramSystem::bytes_moved() const {
  std::uint64_t bursts = 0;
  for (const auto& channel : channels_) {
    bursts += channel->counts().read_bursts + channel->counts().write_bursts;
  }
  return bursts * parameters_.burst_bytes;
}

double DramSystem::peak_bytes_per_second() const {
  return parameters_.channels * static_cast<double>(parameters_.burst_bytes) * parameters_.clock /
         static_cast<double>(parameters_.timing.burst);
}

}  // namespace fm
