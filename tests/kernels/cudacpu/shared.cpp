/* The __shared__ variables of a kernel, which are static here, found by their names in the program's (or
 * module's) table of symbols: those of kernel _Zxyz are _ZZxyzE... (An attribute "section" would be simpler,
 * but g++ ignores it in templates.) A constant, `static const` in a kernel, lies in a read-only section,
 * and does not count. Variables of a function that the kernel calls are not found. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "engine.h"

namespace
{

struct symbols {
    std::map<uintptr_t, std::string> functions;              /* by address */
    std::multimap<std::string, lap_cudacpu_range> variables; /* by the name of their function, less "_Z" */
};

/* The program or library that contains this code: its file, and where it is loaded. */
struct place {
    std::string file = "/proc/self/exe";
    uintptr_t base = 0;
};

place own_place()
{
    place found;
    Dl_info info;
    void *extra = nullptr;
    if (dladdr1(reinterpret_cast<void *>(&own_place), &info, &extra, RTLD_DL_LINKMAP) == 0)
        return found;
    const auto *map = static_cast<const link_map *>(extra);
    found.base = map->l_addr;
    if (map->l_name && *map->l_name) /* not the program itself */
        found.file = map->l_name;
    return found;
}

/* "4tile", "4tile_0": tile. */
std::string plain_name(const std::string &mangled)
{
    const size_t digits = mangled.find_first_not_of("0123456789");
    return mangled.substr(digits == std::string::npos ? 0 : digits, (size_t)atoi(mangled.c_str()));
}

/* _ZZ<function>E<variable>: the function's name is the longest part that is a valid name. */
void add(symbols &s, const ElfW(Sym) & symbol, const std::string &name, uintptr_t base, bool writable)
{
    const uintptr_t address = base + symbol.st_value;
    const int type = symbol.st_info & 15;
    if (type == STT_FUNC && name.compare(0, 2, "_Z") == 0)
        s.functions[address] = name.substr(2);
    if (type != STT_OBJECT || !writable || name.compare(0, 3, "_ZZ") != 0)
        return;
    for (size_t e = name.find('E', 3); e != std::string::npos; e = name.find('E', e + 1))
        if (e + 1 < name.size() && name[e + 1] >= '0' && name[e + 1] <= '9')
            s.variables.insert({name.substr(3, e - 3),
                {reinterpret_cast<char *>(address), symbol.st_size, plain_name(name.substr(e + 1))}});
}

symbols read_symbols()
{
    symbols s;
    const place own = own_place();
    const uintptr_t base = own.base;
    /* Mapped: each process of a test does this, and the file has megabytes of debug information. */
    struct stat about = {};
    const int in = open(own.file.c_str(), O_RDONLY | O_CLOEXEC);
    const bool known = in >= 0 && fstat(in, &about) == 0;
    const auto size = (size_t)about.st_size;
    void *const mapped = known ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, in, 0) : MAP_FAILED;
    if (in >= 0)
        close(in);
    const auto *file = static_cast<const char *>(mapped);
    const auto *header = reinterpret_cast<const ElfW(Ehdr) *>(file);
    if (mapped == MAP_FAILED || size < sizeof *header)
        lap_cudacpu_give_up("cannot read its own program file");
    const auto *sections = reinterpret_cast<const ElfW(Shdr) *>(file + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        const auto *symbol = reinterpret_cast<const ElfW(Sym) *>(file + sections[i].sh_offset);
        const char *names = file + sections[sections[i].sh_link].sh_offset;
        for (size_t n = sections[i].sh_size / sizeof *symbol; n > 0; n--, symbol++) {
            const bool in_section = symbol->st_shndx < header->e_shnum;
            add(s, *symbol, names + symbol->st_name, base,
                in_section && sections[symbol->st_shndx].sh_flags & SHF_WRITE);
        }
    }
    munmap(mapped, size);
    return s;
}

} // namespace

const std::vector<lap_cudacpu_range> &lap_cudacpu_shared_of(const void *kernel)
{
    /* Never destroyed: a thread whose device was given up may run on while the process ends. */
    static const symbols &all = *new symbols(read_symbols());
    static auto &known = *new std::map<const void *, std::vector<lap_cudacpu_range>>;
    auto found = known.find(kernel);
    if (found != known.end())
        return found->second;
    std::vector<lap_cudacpu_range> &ranges = known[kernel];
    auto function = all.functions.find(reinterpret_cast<uintptr_t>(kernel));
    if (function == all.functions.end())
        lap_cudacpu_give_up("has no name: is the program stripped?");
    auto span = all.variables.equal_range(function->second);
    for (auto v = span.first; v != span.second; ++v)
        ranges.push_back(v->second);
    return ranges;
}
