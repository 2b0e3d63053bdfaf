// ById: a vector whose index is an id (NodeId, ValueId, ..), so that no caller casts to size_t.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace sinter {

template <typename Id, typename T>
class ById {
 public:
  ById() = default;
  explicit ById(std::size_t count) : items_(count) {}
  ById(std::size_t count, const T& value) : items_(count, value) {}
  ById(std::initializer_list<T> items) : items_(items) {}

  decltype(auto) operator[](Id id) { return items_[index(id)]; }
  decltype(auto) operator[](Id id) const { return items_[index(id)]; }

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  bool contains(Id id) const {
    return static_cast<std::int64_t>(id) >= 0 && static_cast<std::size_t>(id) < items_.size();
  }
  Id end_id() const { return static_cast<Id>(items_.size()); }  // the next push_back's id

  Id push_back(T item) {
    items_.push_back(std::move(item));
    return static_cast<Id>(items_.size() - 1);
  }
  void assign(std::size_t count, const T& value) { items_.assign(count, value); }
  void resize(std::size_t count, const T& value = T{}) { items_.resize(count, value); }
  void reserve(std::size_t count) { items_.reserve(count); }
  void erase(Id id) { items_.erase(begin() + static_cast<std::ptrdiff_t>(id)); }  // renumbers
  void clear() { items_.clear(); }
  T* data() { return items_.data(); }
  const T* data() const { return items_.data(); }
  const T& front() const { return items_.front(); }
  T& back() { return items_.back(); }
  const T& back() const { return items_.back(); }

  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

  friend bool operator==(const ById&, const ById&) = default;

 private:
  static std::size_t index(Id id) { return static_cast<std::size_t>(id); }
  std::vector<T> items_;
};

}  // namespace sinter
