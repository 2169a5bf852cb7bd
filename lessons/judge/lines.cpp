/* Finds the lines of source for addresses in the program, with binutils' addr2line, which is installed with
 * the compiler. */
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "watch.h"

namespace judge
{

static std::string source;

/* Compares only the name, because the compiler names the file by another path. */
bool is_source(const std::string &file)
{
    const std::string name = source.substr(source.rfind('/') + 1);
    return file.size() >= name.size() && file.compare(file.size() - name.size(), name.size(), name) == 0;
}

namespace
{

std::map<uintptr_t, unsigned> known;

/* A return address is the address of the next instruction: one byte earlier is the call. */
void look_up(const std::vector<uintptr_t> &places)
{
    char exe[4096];
    const char *link = realpath("/proc/self/exe", exe);
    std::string command = "addr2line -e '" + std::string(link ? link : "/proc/self/exe") + "'";
    std::vector<uintptr_t> asked;
    for (uintptr_t p : places)
        if (!known.count(p)) {
            char number[32];
            snprintf(number, sizeof number, " 0x%lx", (unsigned long)(p - 1));
            command += number;
            asked.push_back(p);
        }
    if (asked.empty())
        return;
    FILE *out = popen(command.c_str(), "r");
    char line[4096];
    for (uintptr_t p : asked) {
        known[p] = 0;
        if (!out || !fgets(line, sizeof line, out))
            continue;
        const std::string said = line;
        const size_t colon = said.rfind(':');
        if (colon != std::string::npos && is_source(said.substr(0, colon)))
            known[p] = (unsigned)atoi(line + colon + 1);
    }
    if (out)
        pclose(out);
}

} // namespace

void set_source(const char *path)
{
    source = path;
}

const std::string &source_path()
{
    return source;
}

unsigned line_of(unsigned number)
{
    const site &s = site_number(number);
    look_up(s.places);
    for (uintptr_t p : s.places)
        if (known[p])
            return known[p];
    return 0;
}

static std::string whole_line(unsigned line)
{
    std::ifstream in(source);
    std::string text;
    while (line > 0 && std::getline(in, text))
        line--;
    return text;
}

std::string source_line(unsigned line)
{
    const std::string text = whole_line(line);
    const size_t first = text.find_first_not_of(" \t");
    return first == std::string::npos ? "" : text.substr(first);
}

std::string array_at(unsigned line, unsigned column)
{
    const std::string text = whole_line(line).substr(0, column);
    size_t end = text.size();
    for (int open = 0; end > 0; end--) {
        const char c = text[end - 1];
        open += c == ']' ? 1 : c == '[' ? -1 : 0;
        if (open <= 0 && (isalnum((unsigned char)c) || c == '_'))
            break;
    }
    size_t first = end;
    while (first > 0 && (isalnum((unsigned char)text[first - 1]) || text[first - 1] == '_'))
        first--;
    return text.substr(first, end - first);
}

} // namespace judge
